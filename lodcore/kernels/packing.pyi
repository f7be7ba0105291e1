import numpy as np
import numpy.typing as npt

def next_fit(
    lengths: npt.NDArray[np.int64], budget: int, max_items: int, window: int, out: npt.NDArray[np.int64]
) -> int: ...
def first_fit(lengths: npt.NDArray[np.int64], budget: int, max_items: int, out: npt.NDArray[np.int64]) -> int: ...
def best_fit(lengths: npt.NDArray[np.int64], budget: int, max_items: int, out: npt.NDArray[np.int64]) -> int: ...
def histogram_fit(
    sizes: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    budget: int,
    max_items: int,
    items: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> int: ...
def group_items(
    bins: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    items: npt.NDArray[np.int64],
) -> int: ...
def cut_batches(
    lengths: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    groups: npt.NDArray[np.int64],
    budget: int,
    padded: bool,
    max_items: int,
    out: npt.NDArray[np.int64],
) -> int: ...
def segment_ends(
    documents: npt.NDArray[np.int64],
    bins: npt.NDArray[np.int64],
    length: int,
    with_tails: bool,
    out: npt.NDArray[np.int32],
) -> int: ...
def attention_rows(
    tokens: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    documents: npt.NDArray[np.int64],
    bins: npt.NDArray[np.int64],
    settings: npt.NDArray[np.int64],
    input_ids: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    segment_ids: npt.NDArray[np.int32],
    seq_idx: npt.NDArray[np.int32],
) -> int: ...
