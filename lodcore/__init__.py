"""Nested sequences of different lengths as flat arrays plus offsets, never padded.

    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])      # a batch of three sequences
    >>> x.sum(axis=1), (x * 2)[0], x[1:].tolist()
    (array([3., 0., 3.]), array([2., 4.]), [[], [3.0]])

Tensors
    array(lists), LoDTensor.from_lengths(values, lengths), .from_padded, .from_arrays make a LoDTensor: rows (`values`)
    and their structure (`lod`). x[i], x[a:b], x + y, np.tanh(x), x.sum(axis=1) have the same meaning as in NumPy.
    to_padded, to_regular, to_arrays and tolist convert it. SparseTensor holds selected rows of a table, TensorArray one
    tensor per step.

Operators
    sequence_pool, sequence_softmax, sequence_sort, sequence_conv, gather_sequences, lookup_table and many more, with
    gradients; those with names of Python builtins (sum, max) are in `lodcore.ops`.

Gradients and programs
    vjp(f, *inputs) and value_and_grad(f) differentiate plain functions; while_loop and map_fn are loops;
    `lodcore.graph` has Variables, Programs and the Executor.

More
    lodcore.nn          recurrent layers, attention, beam search, optimizers
    lodcore.batching    batches within a budget of tokens, packing, samplers
    lodcore.interop     Arrow, torch, awkward, pandas, files (save, load)
    lodcore.testing     assertions for your tests

help(lodcore.LoDTensor), or help of any other name, describes it; `lodcore demo` (a command) shows what it can do.
"""

from sys import _getframe as _caller
from typing import TYPE_CHECKING
from typing import Any as _Any

from lodcore import errors
from lodcore.errors import DTypeError, GraphError, LevelError, LoDError, ShapeError

try:
    from lodcore.base.naming import make_public as _make_public
    from lodcore.base.recycling import get_recycled_bytes as get_recycled_bytes
    from lodcore.base.recycling import set_recycled_bytes as set_recycled_bytes
    from lodcore.base.threads import get_num_threads, set_num_threads
    from lodcore.kernels.loading import load as _load
    from lodcore.tensors.from_lists import array
    from lodcore.tensors.lod import LoD
    from lodcore.tensors.lod_tensor import LoDTensor
    from lodcore.tensors.rank_table import IndicesMap, RankTable
    from lodcore.tensors.sparse_tensor import SparseTensor
    from lodcore.tensors.tensor import DenseTensor, Spec, Tensor
    from lodcore.tensors.tensor_array import TensorArray
except ModuleNotFoundError as error:
    from lodcore.base.unbuilt import explained

    raise explained(error) from None

if TYPE_CHECKING:
    from lodcore import batching, graph, interop, nn, ops, testing
    from lodcore.graph import *
    from lodcore.interop.arrow.interface import from_arrow as from_arrow
    from lodcore.interop.arrow.interface import to_arrow as to_arrow
    from lodcore.interop.awkward import from_awkward as from_awkward
    from lodcore.interop.awkward import to_awkward as to_awkward
    from lodcore.interop.dlpack import from_dlpack as from_dlpack
    from lodcore.interop.files.storage import append as append
    from lodcore.interop.files.storage import load as load
    from lodcore.interop.files.storage import save as save
    from lodcore.interop.jax import from_jax as from_jax
    from lodcore.interop.jax import to_jax as to_jax
    from lodcore.interop.pandas import from_pandas as from_pandas
    from lodcore.interop.pandas import to_pandas as to_pandas
    from lodcore.interop.plots import plot_lengths as plot_lengths
    from lodcore.interop.plots import plot_occupancy as plot_occupancy
    from lodcore.interop.polars import from_polars as from_polars
    from lodcore.interop.polars import to_polars as to_polars
    from lodcore.interop.scipy import from_scipy as from_scipy
    from lodcore.interop.scipy import to_scipy as to_scipy
    from lodcore.interop.tensorflow import from_tensorflow as from_tensorflow
    from lodcore.interop.tensorflow import to_tensorflow as to_tensorflow
    from lodcore.interop.thinc import from_thinc as from_thinc
    from lodcore.interop.thinc import to_thinc as to_thinc
    from lodcore.interop.torch import collate as collate
    from lodcore.interop.torch import cu_seqlens as cu_seqlens
    from lodcore.interop.torch import from_torch as from_torch
    from lodcore.interop.torch import to_torch as to_torch
    from lodcore.interop.xarray import from_xarray as from_xarray
    from lodcore.interop.xarray import to_xarray as to_xarray
    from lodcore.ops.public import *
    from lodcore.ops.reduce.axes import all as all
    from lodcore.ops.reduce.axes import any as any
    from lodcore.ops.reduce.axes import max as max
    from lodcore.ops.reduce.axes import min as min
    from lodcore.ops.reduce.axes import sum as sum

__version__ = "0.1.0"

#: The name of LoDTensor in the design of the Tensor family.
LODDenseTensor = LoDTensor

#: All listed names except the operators, which are in `lodcore.ops.public`.
__all__ = [
    "Block",
    "DTypeError",
    "DenseTensor",
    "Executor",
    "GraphError",
    "IfElse",
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
    "append",
    "append_backward",
    "array",
    "batching",
    "collate",
    "cond",
    "create_whileloop",
    "cu_seqlens",
    "data",
    "errors",
    "from_arrow",
    "from_pandas",
    "from_polars",
    "from_torch",
    "get_num_threads",
    "grad_check",
    "graph",
    "interop",
    "is_inheritance_of",
    "load",
    "map_fn",
    "nn",
    "ops",
    "parameter",
    "save",
    "set_num_threads",
    "testing",
    "to_arrow",
    "to_pandas",
    "to_polars",
    "to_torch",
    "tree_leaves",
    "tree_map",
    "value_and_grad",
    "var_get_mutable",
    "vjp",
    "while_loop",
]

if not TYPE_CHECKING:
    _OWN, _PACKAGES = frozenset(__all__), ("batching", "graph", "interop", "nn", "ops", "testing")
    #: NumPy's dtypes by name, as in the design documents.
    _DTYPES = frozenset(
        ["bool_", "complex64", "complex128", "float16", "float32", "float64"]
        + [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
    )
    #: Conversions for other libraries and files.
    _LIBRARIES = ("arrow", "awkward", "jax", "pandas", "polars", "scipy", "tensorflow", "thinc", "torch", "xarray")
    _DOORS = frozenset(
        ["append", "collate", "cu_seqlens", "from_dlpack", "load", "plot_lengths", "plot_occupancy", "save"]
        + [f"{way}_{library}" for way in ("from", "to") for library in _LIBRARIES]
    )
    #: Operators for few uses: names of `lodcore.ops`, which resolve here, too, but are not listed. So do the dtypes,
    #: and the conversions for rare libraries, which are listed in `lodcore.interop`.
    _FOR_FEW = frozenset(
        [
            "argcartesian",
            "argcombinations",
            "average",
            "combination_places",
            "corr",
            "cov",
            "elementwise",
            "group_rows",
            "interleave_places",
            "linear_fit",
            "lod_num",
            "log_softmax",
            "moment",
            "num_rows",
            "repeat_runs",
            "sample_places",
            "sequence_mode",
            "sequence_rank",
        ]
    )
    #: Further operators like `mean`; they would shadow Python builtins, and so are neither exported nor listed.
    _SHADOWING = frozenset(("all", "any", "max", "min", "sum"))
    del __all__  # computed below, with the operators

    _make_public("lodcore", IndicesMap, LoD, LoDTensor, RankTable, SparseTensor, Tensor, TensorArray)
    _make_public("lodcore", array, get_num_threads, set_num_threads)

    def _is_module(name: str) -> bool:
        """Return whether a name is that of a module of the package, which is not a public name."""
        return _load("importlib.util").find_spec(f"lodcore.{name}") is not None

    def __getattr__(name: str) -> _Any:
        """Return an attribute that is loaded at first use: a package, a name of `graph`, a conversion, an operator."""
        if name in _PACKAGES:
            return _load(f"lodcore.{name}")
        if name in _SHADOWING:
            return getattr(_load("lodcore.ops"), name)
        if name in _DTYPES:
            return getattr(_load("numpy"), name)
        if name in _DOORS:
            found = getattr(_load("lodcore.interop"), name)
        elif name in _OWN:
            found = getattr(_load("lodcore.graph"), name)
        elif name[0] != "_" and not _is_module(name):
            found = getattr(_load("lodcore.ops.public"), name, None)
        elif name == "__all__":
            if _caller(1).f_globals.get("__name__") == "pydoc":
                return []  # help(lodcore) is the docstring above, not the pages of all names
            operators = (x for x in vars(_load("lodcore.ops.public")) if x[0] != "_" and x not in _FOR_FEW)
            return sorted([*_OWN, *operators])
        else:
            found = None
        if found is None:
            instead = _load("lodcore.base.other_names").instead_of(name, attribute=False)
            if not instead and hasattr(_load("lodcore.ops.public"), f"sequence_{name}"):
                instead = f"; use lodcore.sequence_{name}"
            raise AttributeError(f"module 'lodcore' has no attribute {name!r}{instead}")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return __getattr__("__all__")
