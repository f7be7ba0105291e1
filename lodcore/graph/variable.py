"""Variables: the operands and results of recorded operators."""

from __future__ import annotations

import operator
from collections.abc import Callable
from operator import index
from typing import Any, TypeVar

import numpy as np

from lodcore.base.articles import with_article, with_number
from lodcore.base.dispatch import Symbol, VariableBody, open_block, recorder
from lodcore.base.dtypes import as_dtype, native_dtype
from lodcore.base.later import operators
from lodcore.base.memory import as_size, check_size, flag
from lodcore.base.other_names import instead_of, instead_of_dense
from lodcore.errors import DTypeError, GraphError
from lodcore.graph.dense_methods import DenseMethods
from lodcore.graph.names import Unnamed, checked_name
from lodcore.graph.recorder import Recorder
from lodcore.numpy_api.dense import is_on_arrays
from lodcore.operators.dense_rows import TO_DENSE
from lodcore.operators.roles import spec_of
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.methods import TensorMethods
from lodcore.tensors.nested import as_array, error_of_objects
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import DenseTensor, Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["Variable", "as_value", "data", "parameter", "resolved", "spec_text"]

T = TypeVar("T")

NUMBERS = frozenset((bool, int, float, complex))

#: The types of values that a Variable holds unchanged.
HELD = (Tensor, TensorArray)


def _structure(part: str, says: str) -> property:
    """Return a property that reads that of the value, or is recorded without a value and for a loop variable."""

    def found(self: Any) -> Any:
        has_value = self.has_value and not _is_loop_variable(self)
        return getattr(self.get(), part) if has_value else operators.structure_of(self, part)

    return property(found, doc=says)


def _is_loop_variable(given: Any) -> bool:
    """Return whether a Variable represents a loop variable of a loop that is being recorded."""
    block = open_block()
    return block is not None and block.loop_variable(given) is not None


class Variable(VariableBody, TensorMethods, DenseMethods):
    """A named holder of a value, or of the Spec of a value that does not exist yet.

    Operators on Variables are recorded in the Block of the Variable; if all operands have values, they compute, too.

    Parameters
    ----------
    name : str, optional
        A first argument that is not a str is the value: `Variable(12)`.
    value : tensor, optional
    spec : Spec, optional
        By default that of the value.
    block : Block, optional
        The Block that records operators on it. A Variable without a Block represents its value.
    shape : tuple of int, optional
        Instead of a value: zeros of this shape. `[0]` is a scalar, as in the design of dynamic RNN.
    dtype : dtype_like, optional
        The dtype of these zeros; by default float32.

    Attributes
    ----------
    name : str
        Unique in a Program and in the body of a loop. A Variable made outside of a Program without a name has one in
        each Program that uses it: `Program.name_of`.
    held : tensor or None
        The value, or None.
    home : callable or None
        Returns the Block of the Variable.
    later : Variable or None
        The Variable that it represents after a loop that it was given to.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore.graph import Variable
    >>> Variable("weights", np.ones((2, 3)))
    Variable(weights: float64 (2, 3), with a value)
    >>> Variable(shape=[0], dtype="int32").get()
    array(0, dtype=int32)
    """

    __module__ = "lodcore"

    __slots__ = ()

    home: Callable[[], Recorder | None] | None
    later: Variable | None
    block: Recorder | None
    spec: Spec
    known_spec: Spec | None

    def __init__(
        self,
        name: Any = None,
        value: Any = None,
        spec: Spec | None = None,
        block: Recorder | None = None,
        *,
        shape: Any = None,
        dtype: Any = None,
    ) -> None:
        if name is not None and not isinstance(name, str):
            if value is not None:
                raise DTypeError(f"Variable: name: is {name!r}; with a value, a str is needed")
            name, value = None, name
        if isinstance(value, (list, tuple)):
            value = as_value("Variable: value", value)
        if shape is not None or dtype is not None:
            value = _zeros("Variable", value, shape, dtype)
        self.begin(Unnamed("variable") if name is None else name, value, spec, block)

    # -- the holder ----------------------------------------------------------------------------------------------------

    def spec_of_held(self) -> Spec:
        """Return the Spec of the value, when it is first asked for."""
        if self.held is None:
            raise GraphError(f"Variable {self.name}: has neither a Spec nor a value")
        return spec_of(self.held)

    @property
    def has_value(self) -> bool:
        """Whether there is a value."""
        return self.held is not None if self.later is None else self.later.has_value

    def get(self) -> Any:
        """Return the value.

        Raises
        ------
        GraphError
            If there is no value yet.
        """
        if self.later is not None:
            return self.later.get()
        if self.held is None:
            raise GraphError(
                f"Variable {self.name}: has no value while it is recorded; control flow on values needs while_loop, "
                "break_if and cond; a Program gives values when it runs: Executor().run(program, feed, fetch)"
            )
        return self.held

    @property
    def value(self) -> Any:
        """The value; raises GraphError if there is none yet."""
        return self.get()

    def set(self, value: Any) -> None:
        """Set the value: a tensor, or an object that is converted to an array.

        Raises
        ------
        GraphError
            If the value exists only while a Program or a loop runs, as for `data`.
        """
        self.put(self.settable(value))

    def settable(self, value: Any) -> Any:
        """Return a value as `set` puts it into place, or raise as `set` does."""
        self._check_holds("set")
        return as_value(f"Variable {self.name}", value)

    def get_mutable(self, kind: type[T]) -> T:
        """Return the value if it is of a kind; otherwise, set and return an empty one.

        Parameters
        ----------
        kind : type
            A kind of tensor that can be made without arguments, or DenseTensor, LoDTensor, SparseTensor.

        Raises
        ------
        GraphError
            If the value exists only while a Program or a loop runs, as for `data`.
        DTypeError
            If the kind cannot be made without arguments.
        """
        self._check_holds("get_mutable")
        if type(self.held) is not kind:
            self.put(_empty(kind))
        held: T = self.held
        return held

    def clone(self, other: Variable) -> None:
        """Set the value to a copy of that of another Variable, including the kind of tensor."""
        value = other.get()
        self._check_holds("clone")
        self.put((value.copy if isinstance(value, np.ndarray) else value.clone)())

    def _check_holds(self, called: str) -> None:
        """Raise if the Variable has no value of its own, but one in each run of its Block."""
        block = self.block
        if block is None or self.held is not None:
            return
        what = "is made by an operator; a Program computes it when it runs"
        if any(x is self for x in block.feeds):
            what = (
                f"is data, without a value outside of a run; Executor().run takes it: feed={{{str(self.name)!r}: ...}}"
            )
        raise GraphError(f"{called}: Variable {self.name}: {what}")

    def stand_for(self, later: Variable) -> None:
        """Represent another Variable of the same Block from now on."""
        self.later = later

    def update(self, value: Any) -> None:
        """Set the value of the next step of a loop, or of the next run of a Program.

        In the body of a loop this Variable is one of its `loop_vars`. At the top level of a Program it is a parameter:
        each run computes the value, whatever is fetched, and writes it into the Scope of the Executor at its end; until
        then the parameter keeps its previous value, and `get()` always returns the initial one.

        Parameters
        ----------
        value : Variable, tensor or number
            Has the dtype and shape of the parameter. If a Program has several updates, the last one counts.

        Raises
        ------
        GraphError
            If the value is of another kind, or this is neither a loop variable nor a parameter in a Program.

        Examples
        --------
        >>> from lodcore.graph import Executor, Program, parameter
        >>> count = parameter(1.0, "count")
        >>> with Program() as program:
        ...     count.update(count * 2.0)
        >>> executor = Executor()
        >>> [float(executor.run(program, fetch=[count])[0]) for _ in range(4)]
        [1.0, 2.0, 4.0, 8.0]
        >>> float(count.get()), float(executor.scope.get(count))
        (1.0, 16.0)
        """
        block = open_block()
        known = None if block is None else block.loop_variable(self)
        if known is not None:
            known.update(value)
            return
        block = block or recorder([self, value])
        if block is None:
            raise GraphError(
                f"update: {self.name}: is not a loop variable, and no Program is open; outside, set() sets the value"
            )
        block.update(self, value)

    # -- properties that need no value ---------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape of the value; without a value, None for each ragged axis."""
        if self.later is not None:
            return self.later.shape
        held, known = self.held, self.known_spec
        if held is None and known is not None and known.kind is np.ndarray:  # the usual case of a cell
            return known.shape
        if held is not None and (type(held) is np.ndarray or isinstance(held, (Tensor, np.generic))):
            return held.shape
        spec = self.spec
        usual = spec.kind is np.ndarray or spec.kind is LoDTensor
        if not usual and (spec.kind is TensorArray or not issubclass(spec.kind, Tensor)):
            raise GraphError(f"Variable {self.name}: is {with_article(spec.kind.__name__)}, which has no shape")
        return (None,) * spec.num_levels + spec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        held = self.held
        return held.dtype if type(held) in (np.ndarray, LoDTensor) else self.spec.dtype

    @property
    def ndim(self) -> int:
        """The number of axes, levels included."""
        return self.spec.num_levels + len(self.spec.shape)

    @property
    def num_levels(self) -> int:
        """The number of levels."""
        return self.spec.num_levels

    @property
    def num_rows(self) -> Any:
        """The number of rows: `lodcore.num_rows(v)`."""
        if not self.has_value or _is_loop_variable(self):
            return operators.num_rows(self)
        value = self.get()
        return value.num_rows if isinstance(value, LoDTensor) else len(value)

    def to_dense(self) -> Any:
        """Return the rows of a SparseTensor among zeros, as an array; an array stays as it is."""
        return TO_DENSE(self)

    lod = _structure("lod", "The LoD of the value.")
    lengths = _structure("lengths", "The lengths of the outermost sequences, or of those of a RankTable.")
    offsets = _structure("offsets", "The offsets of the outermost level.")
    indices = _structure("indices", "The numbers of the sequences of a RankTable, or of the rows of a SparseTensor.")
    rank = _structure("rank", "The order of an IndicesMap, as a RankTable.")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self.spec.num_levels:
            instead = instead_of(name, attribute=True)
        else:
            instead = instead_of_dense(name, is_on_arrays(getattr(np, name, None)))
        instead = instead or "; use an operator, or get() for its value"
        raise AttributeError(f"Variable {self.name}: has no {name!r}{instead}", name=name, obj=self)

    def __len__(self) -> int:
        if not self.has_value:
            if not self.num_levels and self.spec.shape and self.spec.shape[0] is not None:
                return self.spec.shape[0]
            instead = (
                "lodcore.lod_lengths(v) has one entry per sequence" if self.num_levels else "use lodcore.num_rows(v)"
            )
            raise GraphError(
                f"Variable {self.name}: its length is a number that is known only at run time; {instead}, while_loop "
                "and break_if for control flow"
            )
        return len(self.get())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(_number(self._taken_out("int(v)")))

    def __float__(self) -> float:
        return float(_number(self._taken_out("float(v)")))

    def __index__(self) -> int:
        self._refuse_index()
        return index(_number(self.get()))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self._taken_out("np.asarray(v)"), *args, **kwargs)

    def _refuse_index(self) -> None:
        """Raise for a number without a value, with which an array or a list would be indexed."""
        if not self.has_value and self.spec.dtype.kind in "iu" and not self.ndim:
            raise GraphError(
                f"Variable {self.name}: is a number that is known only at run time; lookup_table(array, {self.name}) "
                f"takes a row of an array by it, array.read({self.name}) an element of a TensorArray; control flow on "
                "values needs while_loop, break_if and cond"
            )

    def _taken_out(self, how: str) -> Any:
        """Return the value for use outside of recorded operators, if no gradient is lost by that."""
        self._refuse_index()
        value = self.get()
        block = self.home() if self.home is not None else open_block()
        if block is not None and block.recording and self.dtype.kind in "fc":
            raise GraphError(
                f"Variable {self.name}: {how} would leave the recorded operators and lose the gradient; "
                "use an operator (exp(v) for math.exp(v), np.stack([v, w]) for np.array([v, w]), ops.cast(v, dtype)), "
                "or v.get() to read the value"
            )
        return value

    def __reduce__(self) -> Any:
        raise TypeError("Variable: cannot be copied or pickled; lodcore.save keeps a Program, and v.get() is a value")

    def __repr__(self) -> str:
        if self.known_spec is None and self.held is None:
            return f"Variable({self.name})"
        return f"Variable({self.name}: {spec_text(self.spec)}{', with a value' if self.has_value else ''})"


def spec_text(spec: Spec) -> str:
    """Return a Spec as text: `float32 (., 64), 2 levels`."""
    if spec.kind is object:
        return "not known yet"
    if not (spec.kind in (np.ndarray, LoDTensor) or spec.shape):
        return spec.kind.__name__
    axes = ["." if size is None else str(size) for size in spec.shape]
    shape = f"({', '.join(axes)}{',' * (len(axes) == 1)})"
    kind = "" if spec.kind in (np.ndarray, LoDTensor) else f", {spec.kind.__name__}"
    levels = f", {with_number(spec.num_levels, 'level')}" if spec.num_levels else ""
    return f"{spec.dtype} {shape}{levels}{kind}"


def resolved(given: Any) -> Any:
    """Replace a Symbol by the object that it represents now: a loop variable after its loop, or the value of a slot."""
    if isinstance(given, Symbol):
        return given.current()
    if type(given) is list and any(isinstance(x, Symbol) for x in given):
        return [resolved(x) for x in given]
    return given


def _number(value: Any) -> Any:
    """Return the single element of a tensor; return a number itself."""
    return value.item() if hasattr(value, "item") else value


def as_value(where: str, value: Any) -> Any:
    """Return a tensor unchanged; convert anything else to an array."""
    if isinstance(value, Symbol):
        raise DTypeError(f"{where}: is {with_article(type(value).__name__)}; the value itself is needed")
    if type(value) in NUMBERS:
        value = np.asarray(value)
    elif type(value) is not np.ndarray and (isinstance(value, np.ndarray) or not isinstance(value, HELD)):
        value = as_array(where, value)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        raise error_of_objects(f"{where}: has dtype", value.dtype)
    return value


def _zeros(where: str, value: Any, shape: Any, dtype: Any) -> Any:
    """Return the value of a Variable that is declared by its shape."""
    if value is not None:
        raise DTypeError(f"{where}: shape, dtype: replace a value; one is given, too")
    sizes = () if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    if sizes == (0,):
        sizes = ()
    if any(as_size(size) is None for size in sizes):
        raise DTypeError(f"{where}: shape: is {shape!r}; each size is an integer of 0 or more")
    check_size(where, *map(operator.index, sizes), np.dtype(np.float32 if dtype is None else dtype).itemsize)
    return as_value(where, np.zeros(sizes, np.float32 if dtype is None else dtype))


def parameter(value: Any = None, name: str | None = None, *, shape: Any = None, dtype: Any = None) -> Variable:
    """Make a Variable for a trainable value.

    Parameters
    ----------
    value : array_like or tensor
        The value, which is not copied: changes of the array change the parameter.
    name : str, optional
    shape : tuple of int, optional
        Instead of a value: zeros of this shape.
    dtype : dtype_like, optional
        The dtype of these zeros; by default float32.

    Returns
    -------
    Variable
        A Variable of the open Program, if there is one.

    Examples
    --------
    >>> from lodcore.graph import parameter
    >>> parameter([1.0, 2.0], "weights")
    Variable(weights: float64 (2,), with a value)
    """
    block = open_block()
    if value is None and shape is None:
        raise DTypeError("parameter: value: is missing; a value or a shape is needed")
    if isinstance(value, str):
        raise DTypeError(f"parameter: value: is {value!r}; a value is needed, and its name is `name`")
    made = _zeros("parameter", value, shape, dtype) if shape is not None else as_value("parameter: value", value)
    if block is None or not block.takes_names:
        return Variable(checked_name("parameter", Unnamed("parameter") if name is None else name), made)
    variable = Variable(None, made, None, block)
    block.add(variable, checked_name("parameter", name), "parameter")
    block.declared.add(variable)
    return variable


def data(name: str, spec: Any, dtype: Any = None, num_levels: int = 0, cast: bool = False) -> Variable:
    """Make a Variable without a value, which is fed when its Program runs.

    Parameters
    ----------
    name : str
    spec : Spec, or tuple of int or None
        The Spec, or the shape of the values, with None for an unknown number of rows.
    dtype : dtype_like, default float32
        Only with a shape.
    num_levels : int
        Only with a shape.
    cast : bool, default False
        Whether a fed array of another dtype of the same kind (integers, real or complex numbers) is converted. By
        default it is an error.

    Returns
    -------
    Variable

    Raises
    ------
    GraphError
        If no Program is open, or the name is taken.

    Examples
    --------
    >>> from lodcore.graph import Program, data
    >>> with Program() as program:
    ...     print(data("words", (None,), "int64", num_levels=1))
    Variable(words: int64 (.,), 1 level)
    """
    block = open_block()
    if block is None or not block.takes_names:
        raise GraphError(f"data: {name}: is made while a Program is open: `with Program():`, outside of loops")
    cast = flag(f"data: {name}: cast", cast)
    variable = Variable(None, None, _declared(spec, dtype, num_levels), block)
    block.add(variable, checked_name("data", name), "data")
    block.feeds.append(variable)
    if cast:
        block.casts.add(variable)
    return variable


def _declared(spec: Any, dtype: Any, num_levels: int) -> Spec:
    """Return the checked Spec of the declared data."""
    if not isinstance(spec, Spec):
        if not isinstance(spec, (tuple, list)):
            raise DTypeError(f"data: spec: is {spec!r}; a Spec or a shape is needed")
        spec = Spec(tuple(spec), as_dtype("data: dtype", np.float32 if dtype is None else dtype), num_levels)
    elif dtype is not None or num_levels:
        raise DTypeError("data: dtype, num_levels: are parts of the given Spec")
    for size in spec.shape:
        if size is not None and as_size(size) is None:
            raise DTypeError(f"data: spec: has the shape {spec.shape}; each size is an integer, or None")
    if as_size(spec.num_levels) is None:
        raise DTypeError(f"data: num_levels: is {spec.num_levels!r}; an integer of 0 or more is needed")
    found = as_dtype("data: dtype", spec.dtype)
    if found.hasobject:
        raise error_of_objects("data: dtype: is", found)
    if spec.num_levels and not spec.shape:
        raise DTypeError("data: spec: has levels and no axis; the first axis counts rows")
    shape = tuple(None if size is None else operator.index(size) for size in spec.shape)
    kind = LoDTensor if spec.num_levels and spec.kind is np.ndarray else spec.kind
    return Spec(shape, native_dtype(found), int(spec.num_levels), kind)


def _empty(kind: Any) -> Any:
    """Return an empty tensor of a kind."""
    if kind is DenseTensor or kind is np.ndarray:
        return kind(np.empty(0)) if kind is DenseTensor else np.empty(0)
    if kind is LoDTensor:
        return LoDTensor.from_lengths(np.empty(0), [])
    if kind is SparseTensor:
        return SparseTensor(np.empty(0, np.int64), np.empty(0), 0)
    try:
        return kind()
    except TypeError as error:
        raise DTypeError(
            f"get_mutable: kind: {getattr(kind, '__name__', kind)} cannot be made empty: {error}"
        ) from None
