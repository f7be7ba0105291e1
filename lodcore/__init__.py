"""Nested sequences of different lengths as flat arrays plus offsets, never padded."""

from lodcore import errors, ops
from lodcore.errors import DTypeError, GraphError, LevelError, LoDError, ShapeError
from lodcore.indices_map import IndicesMap
from lodcore.lod import LoD
from lodcore.ops import (
    RankTable,
    concat_batches,
    gather_sequences,
    lod_rank_table,
    reorder_by_rank,
    sequence_slice,
    shrink_memory,
)
from lodcore.tensor import DenseTensor, LoDTensor, Spec, Tensor, array
from lodcore.tensor_array import TensorArray

__version__ = "0.1.0"

__all__ = [
    "DTypeError",
    "DenseTensor",
    "GraphError",
    "IndicesMap",
    "LevelError",
    "LoD",
    "LoDError",
    "LoDTensor",
    "RankTable",
    "ShapeError",
    "Spec",
    "Tensor",
    "TensorArray",
    "array",
    "concat_batches",
    "errors",
    "gather_sequences",
    "lod_rank_table",
    "ops",
    "reorder_by_rank",
    "sequence_slice",
    "shrink_memory",
]
