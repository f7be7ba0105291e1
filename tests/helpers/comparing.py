"""Keys that compare rows, and the bits of nans."""

import numpy as np

import lodcore
from lodcore import ops

BITS = {
    np.float16: (np.uint16, [0x7E00, 0xFE00, 0x7E01, 0xFD00]),
    np.float32: (np.uint32, [0x7FC00000, 0xFFC00000, 0x7FC00001, 0xFFA00000]),
    np.float64: (np.uint64, [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0xFFF4000000000000]),
}


def flat(x):
    """Return one key per row of a tensor without its levels."""
    return x.values


CALLS = {
    "group_rows": lambda x: lodcore.group_rows(flat(x)),
    "group_rows, first": lambda x: lodcore.group_rows(flat(x), order="first"),
    "group_by": lambda x: lodcore.group_by(flat(x), np.arange(x.num_rows)),
    "join_by_key": lambda x: lodcore.join_by_key(flat(x), flat(x), flat(x), flat(x))[0],
    "run_lengths": lodcore.run_lengths,
    "sequence_unique": lodcore.sequence_unique,
    "sequence_unique_all": lodcore.sequence_unique_all,
    "sequence_n_unique": lodcore.sequence_n_unique,
    "sequence_mode": lodcore.sequence_mode,
    "sequence_rank": lodcore.sequence_rank,
    "sequence_rank, dense": lambda x: lodcore.sequence_rank(x, "dense", descending=True),
    "sequence_argsort": lodcore.sequence_argsort,
    "sequence_argsort, descending": lambda x: lodcore.sequence_argsort(x, descending=True),
    "sequence_sort": lodcore.sequence_sort,
    "sequence_median": lodcore.sequence_median,
    "sequence_topk": lambda x: lodcore.sequence_topk(x, 1),
    "sequence_searchsorted": lambda x: lodcore.sequence_searchsorted(lodcore.sequence_sort(x), x, side="right"),
    "max": lambda x: x.max(axis=1),
    "min": lambda x: x.min(axis=1),
    "argmax": lambda x: ops.argmax(x, axis=1),
    "argmin": lambda x: ops.argmin(x, axis=1),
    "nanmax": lambda x: ops.nanmax(x, axis=1, initial=0),
    "nan_to_num": np.nan_to_num,
}
