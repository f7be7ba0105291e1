import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]

def next_fit(lengths: Int64, budget: int, max_items: int, window: int, out: Int64) -> int: ...
def first_fit(lengths: Int64, budget: int, max_items: int, out: Int64) -> int: ...
def best_fit(lengths: Int64, budget: int, max_items: int, out: Int64) -> int: ...
def histogram_fit(
    sizes: Int64, counts: Int64, order: Int64, budget: int, max_items: int, items: Int64, out: Int64
) -> int: ...
def group_items(bins: Int64, order: Int64, offsets: Int64, items: Int64) -> int: ...
def cut_batches(
    lengths: Int64, order: Int64, groups: Int64, budget: int, padded: bool, max_items: int, out: Int64
) -> int: ...
def segment_ends(documents: Int64, bins: Int64, length: int, with_tails: bool, out: Int32) -> int: ...
def attention_rows(
    tokens: Int64,
    targets: Int64,
    documents: Int64,
    bins: Int64,
    settings: Int64,
    input_ids: Int64,
    labels: Int64,
    positions: Int64,
    segment_ids: Int32,
    seq_idx: Int32,
) -> int: ...
