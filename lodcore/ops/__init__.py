"""The operators, one file a family."""

from lodcore.ops.gather import concat_batches, gather_sequences, sequence_slice
from lodcore.ops.rank import RankTable, lod_rank_table, reorder_by_rank, shrink_memory

__all__ = [
    "RankTable",
    "concat_batches",
    "gather_sequences",
    "lod_rank_table",
    "reorder_by_rank",
    "sequence_slice",
    "shrink_memory",
]
