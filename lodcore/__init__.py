"""Nested sequences of different lengths as flat arrays plus offsets, never padded."""

from typing import Any

from lodcore import errors, ops
from lodcore import faces as faces  # attaches operators to LoDTensor
from lodcore.errors import DTypeError, GraphError, LevelError, LoDError, ShapeError
from lodcore.indices_map import IndicesMap
from lodcore.lod import LoD
from lodcore.ops import (
    RankTable,
    add,
    concat_batches,
    cross_entropy,
    div,
    embedding_bag,
    equal,
    exp,
    gather_sequences,
    greater_equal_than,
    greater_than,
    less_equal_than,
    less_than,
    lod_append,
    lod_rank_table,
    lod_reset,
    log,
    logical_and,
    logical_not,
    logical_or,
    lookup_table,
    matmul,
    mean,
    merge_by_mask,
    minus,
    mul,
    not_equal,
    relu,
    reorder_by_rank,
    row_conv,
    sequence_concat,
    sequence_conv,
    sequence_cumsum,
    sequence_enumerate,
    sequence_erase,
    sequence_expand,
    sequence_expand_as,
    sequence_logsumexp,
    sequence_mask,
    sequence_pad,
    sequence_pool,
    sequence_reshape,
    sequence_reverse,
    sequence_scatter,
    sequence_slice,
    sequence_softmax,
    sequence_sort,
    sequence_topk,
    sequence_unpad,
    shrink_memory,
    sigmoid,
    softmax,
    split_by_mask,
    sqrt,
    tanh,
    tensor_array_concat,
    tensor_array_pack,
    tensor_array_read,
    tensor_array_size,
    tensor_array_stack,
    tensor_array_unpack,
    tensor_array_unstack,
    tensor_array_write,
)
from lodcore.recycling import get_recycled_bytes, set_recycled_bytes
from lodcore.sparse_tensor import SparseTensor
from lodcore.tensor import DenseTensor, LoDTensor, Spec, Tensor, array
from lodcore.tensor_array import TensorArray
from lodcore.threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

__all__ = [
    "Block",
    "DTypeError",
    "DenseTensor",
    "Executor",
    "GraphError",
    "IndicesMap",
    "LevelError",
    "LoD",
    "LoDError",
    "LoDTensor",
    "Operator",
    "Program",
    "RankTable",
    "Scope",
    "ShapeError",
    "SparseTensor",
    "Spec",
    "Tensor",
    "TensorArray",
    "VarArray",
    "Variable",
    "add",
    "append_backward",
    "array",
    "concat_batches",
    "cross_entropy",
    "data",
    "div",
    "embedding_bag",
    "equal",
    "errors",
    "exp",
    "from_arrow",
    "gather_sequences",
    "get_num_threads",
    "get_recycled_bytes",
    "grad_check",
    "greater_equal_than",
    "greater_than",
    "is_inheritance_of",
    "less_equal_than",
    "less_than",
    "lod_append",
    "lod_rank_table",
    "lod_reset",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "lookup_table",
    "map_fn",
    "matmul",
    "mean",
    "merge_by_mask",
    "minus",
    "mul",
    "not_equal",
    "ops",
    "parameter",
    "relu",
    "reorder_by_rank",
    "row_conv",
    "sequence_concat",
    "sequence_conv",
    "sequence_cumsum",
    "sequence_enumerate",
    "sequence_erase",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_logsumexp",
    "sequence_mask",
    "sequence_pad",
    "sequence_pool",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_sort",
    "sequence_topk",
    "sequence_unpad",
    "set_num_threads",
    "set_recycled_bytes",
    "shrink_memory",
    "sigmoid",
    "softmax",
    "split_by_mask",
    "sqrt",
    "tanh",
    "tensor_array_concat",
    "tensor_array_pack",
    "tensor_array_read",
    "tensor_array_size",
    "tensor_array_stack",
    "tensor_array_unpack",
    "tensor_array_unstack",
    "tensor_array_write",
    "value_and_grad",
    "var_get_mutable",
    "vjp",
    "while_loop",
]

#: What is loaded when it is first used, and from where.
_LATER = dict.fromkeys(
    [
        "Block",
        "Executor",
        "Operator",
        "Program",
        "Scope",
        "VarArray",
        "Variable",
        "append_backward",
        "data",
        "grad_check",
        "is_inheritance_of",
        "map_fn",
        "parameter",
        "value_and_grad",
        "var_get_mutable",
        "vjp",
        "while_loop",
    ],
    "graph",
) | {"graph": "", "interop": ""}

#: Doors to other libraries; those that need one to be shown stand here alone, and not in __all__.
_LATER |= dict.fromkeys(
    [
        "from_arrow",
        "to_arrow",
    ],
    "interop",
)


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'lodcore' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"lodcore.{_LATER[name] or name}")
    found = getattr(module, name) if _LATER[name] else module
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
