import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]
_Int32 = npt.NDArray[np.int32]

def next_fit(lengths: _Int64, budget: int, max_items: int, window: int, out: _Int64) -> int: ...
def first_fit(lengths: _Int64, budget: int, max_items: int, out: _Int64) -> int: ...
def best_fit(lengths: _Int64, budget: int, max_items: int, out: _Int64) -> int: ...
def histogram_fit(
    sizes: _Int64, counts: _Int64, order: _Int64, budget: int, max_items: int, items: _Int64, out: _Int64
) -> int: ...
def group_items(bins: _Int64, order: _Int64, offsets: _Int64, items: _Int64) -> int: ...
def cut_batches(
    lengths: _Int64, order: _Int64, groups: _Int64, budget: int, padded: bool, max_items: int, out: _Int64
) -> int: ...
def segment_ends(documents: _Int64, bins: _Int64, length: int, with_tails: bool, out: _Int32) -> int: ...
def attention_rows(
    tokens: _Int64,
    targets: _Int64,
    documents: _Int64,
    bins: _Int64,
    settings: _Int64,
    input_ids: _Int64,
    labels: _Int64,
    positions: _Int64,
    segment_ids: _Int32,
    seq_idx: _Int32,
) -> int: ...
