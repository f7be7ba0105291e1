"""Nested sequences of different lengths as flat arrays plus offsets, never padded."""

from typing import Any

from lodcore import errors, ops
from lodcore import faces as faces  # attaches operators to LoDTensor
from lodcore.errors import DTypeError, GraphError, LevelError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.ops import (
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
    lod_lengths,
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
    sequence_matmul,
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
from lodcore.rank_table import IndicesMap, RankTable
from lodcore.recycling import get_recycled_bytes, set_recycled_bytes
from lodcore.sparse_tensor import SparseTensor
from lodcore.tensor import DenseTensor, LoDTensor, Spec, Tensor, array
from lodcore.tensor_array import TensorArray
from lodcore.threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

#: The name that the design of the Tensor family has for it.
LODDenseTensor = LoDTensor

__all__ = [
    "Block",
    "DTypeError",
    "DenseTensor",
    "Executor",
    "GraphError",
    "IndicesMap",
    "LODDenseTensor",
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
    "Var",
    "VarArray",
    "Variable",
    "add",
    "append_backward",
    "array",
    "concat_batches",
    "create_whileloop",
    "cross_entropy",
    "data",
    "div",
    "embedding_bag",
    "equal",
    "errors",
    "exp",
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
    "lod_lengths",
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
    "sequence_matmul",
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
    "tree_leaves",
    "tree_map",
    "value_and_grad",
    "var_get_mutable",
    "vjp",
    "while_loop",
]

#: What is loaded when it is first used, and from where.
_LATER = dict.fromkeys(
    [
        "Var",
        "create_whileloop",
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
        "tree_leaves",
        "tree_map",
        "value_and_grad",
        "var_get_mutable",
        "vjp",
        "while_loop",
    ],
    "graph",
) | {"graph": ""}

#: NumPy's dtypes by their names, as the documents write them.
_DTYPES = frozenset(
    ["bool_", "complex64", "complex128", "float16", "float32", "float64"]
    + [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
)

__all__ += sorted(_DTYPES)


def __getattr__(name: str) -> Any:
    if name in _DTYPES:
        import numpy

        return getattr(numpy, name)
    if name not in _LATER:
        raise AttributeError(f"module 'lodcore' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"lodcore.{_LATER[name] or name}")
    found = getattr(module, name) if _LATER[name] else module
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_DTYPES})
