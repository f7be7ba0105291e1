"""Variables: what operators record on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lodcore.errors import DTypeError, GraphError
from lodcore.registry import spec_of
from lodcore.symbol import Symbol, open_block
from lodcore.tensor import DenseTensor, LoDTensor, Spec, Tensor

if TYPE_CHECKING:
    from lodcore.graph.block import Block

__all__ = ["Variable", "data", "is_inheritance_of", "parameter", "var_get_mutable"]

T = TypeVar("T")


class Variable(Symbol):
    """A name, a Spec, and the holder of a value that may not be there yet.

    Operators on Variables record themselves into the Block of the Variable; if all have values, they compute as well.

    Parameters
    ----------
    name : str, optional
    value : tensor, optional
    spec : Spec, optional
        That of the value, if not given.
    block : Block, optional
        Where operators on it record.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore.graph import Variable
    >>> Variable("weights", np.ones((2, 3)))
    Variable(weights: float64 (2, 3), with a value)
    """

    __slots__ = ("__weakref__", "_name", "_spec", "_value", "block")

    def __init__(
        self, name: str | None = None, value: Any = None, spec: Spec | None = None, block: Block | None = None
    ) -> None:
        self._name = name
        self._value = value
        self._spec = spec
        self.block = block

    # -- the holder ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name, unique in its Block."""
        if self._name is None:
            self._name = self.block.name_of(self) if self.block is not None else "variable"
        return self._name

    @property
    def spec(self) -> Spec:
        """What is known of its value: Spec."""
        if self._spec is None:
            if self._value is None:
                raise GraphError(f"Variable {self.name}: has neither a Spec nor a value")
            self._spec = spec_of(self._value)
        return self._spec

    @property
    def has_value(self) -> bool:
        """Whether there is a value."""
        return self._value is not None

    def get(self) -> Any:
        """Give the value.

        Raises
        ------
        GraphError
            If there is none yet.
        """
        if self._value is None:
            raise GraphError(f"Variable {self.name}: has no value while it is recorded; a loop ends by break_if")
        return self._value

    @property
    def value(self) -> Any:
        """The value; GraphError if there is none yet."""
        return self.get()

    def set(self, value: Any) -> None:
        """Give it a value."""
        self._value, self._spec = value, None

    def get_mutable(self, kind: type[T]) -> T:
        """Give the value as one of a kind, which is made empty if there is another or none.

        Parameters
        ----------
        kind : type
            A kind of tensor that can be made without arguments, or DenseTensor, LoDTensor.
        """
        if type(self._value) is not kind:
            self.set(_empty(kind))
        made: T = self._value
        return made

    def clone(self, other: Variable) -> None:
        """Take over a copy of what another Variable holds, kind of tensor included."""
        value = other.get()
        self.set(value.copy() if isinstance(value, np.ndarray) else value.clone())

    def record(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Append the call of an operator to the Block."""
        block = open_block()
        if block is None:
            args = tuple(map(_settled, args))
            kwargs = {name: _settled(given) for name, given in kwargs.items()}
            block = _block_of([*args, *kwargs.values()])
        if block is not None:
            return block.record(op, args, kwargs)
        with_values = [[_known(x) for x in given] if type(given) is list else _known(given) for given in args]
        return op(*with_values, **{name: _known(given) for name, given in kwargs.items()})

    def current(self) -> Any:
        """Give what stands for it now: itself; of a loop variable after its loop, the result."""
        return self

    # -- what is known without a value -----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Shape of the value; of a LoDTensor without one, None for each ragged axis."""
        if self._value is not None and not hasattr(self._value, "shape"):
            raise GraphError(f"Variable {self.name}: holds a {type(self._value).__name__}, which has no shape")
        if self._value is not None:
            shape: tuple[int | None, ...] = self._value.shape
            return shape
        spec = self.spec
        return (None,) * spec.num_levels + spec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        """Number of axes, levels included."""
        return self.spec.num_levels + len(self.spec.shape)

    @property
    def num_levels(self) -> int:
        """Number of levels."""
        return self.spec.num_levels

    @property
    def lod(self) -> Any:
        """The LoD of the value."""
        return self.get().lod

    def __len__(self) -> int:
        return len(self.get())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __index__(self) -> int:
        return int(self.get().__index__())

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"Variable {self.name}: an array made of it would not be recorded; use operators, or get() for its value"
        )

    def __repr__(self) -> str:
        if self._spec is None and self._value is None:
            return f"Variable({self.name})"
        return f"Variable({self.name}: {spec_text(self.spec)}{', with a value' if self.has_value else ''})"


def spec_text(spec: Spec) -> str:
    """Write a Spec for people: `float32 (., 64), 2 levels`."""
    if not (spec.kind in (np.ndarray, LoDTensor) or spec.shape):
        return spec.kind.__name__
    axes = ["." if size is None else str(size) for size in spec.shape]
    shape = f"({', '.join(axes)}{',' * (len(axes) == 1)})"
    kind = "" if spec.kind in (np.ndarray, LoDTensor) else f", {spec.kind.__name__}"
    levels = f", {spec.num_levels} level{'s' * (spec.num_levels != 1)}" if spec.num_levels else ""
    return f"{spec.dtype} {shape}{levels}{kind}"


def _settled(given: Any) -> Any:
    """Put what stands for a loop variable after its loop in its place."""
    if type(given) is list and any(isinstance(x, Symbol) for x in given):
        return [_settled(x) for x in given]
    return given.current() if isinstance(given, Symbol) else given  # type: ignore[attr-defined]


def _block_of(given: list[Any]) -> Block | None:
    """Find the Block of the first argument that has one."""
    for x in given:
        block = _block_of(x) if type(x) is list else x.block if isinstance(x, Variable) else None
        if block is not None:
            found: Block = block
            return found
    return None


def _known(given: Any) -> Any:
    """Give the value of a Variable that belongs to no Block, and everything else as it is."""
    return given.get() if isinstance(given, Variable) else given


def parameter(value: Any, name: str | None = None) -> Variable:
    """Make a Variable of a value that is to be learned.

    Parameters
    ----------
    value : array_like or tensor
    name : str, optional

    Returns
    -------
    Variable
        In the Block that is open, if one is.

    Examples
    --------
    >>> from lodcore.graph import parameter
    >>> parameter([1.0, 2.0], "weights")
    Variable(weights: float64 (2,), with a value)
    """
    value = value if isinstance(value, Tensor) and not isinstance(value, np.ndarray) else np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        raise DTypeError(f"parameter: value: has dtype {value.dtype}; Python objects have no fixed size")
    block = open_block()
    variable = Variable(name, value, None, block)
    if block is not None:
        block.add(variable, "parameter" if name is None else name)
    return variable


def data(name: str, spec: Any, dtype: Any = None, num_levels: int = 0) -> Variable:
    """Make a Variable without a value, which is fed when its Program runs.

    Parameters
    ----------
    name : str
    spec : Spec, or tuple of int or None
        Or the shape of the values, None for a number of rows that is not known.
    dtype : dtype_like, default float32
        Only beside a shape.
    num_levels : int
        Only beside a shape.

    Returns
    -------
    Variable

    Raises
    ------
    GraphError
        If no Program is open.
    """
    block = open_block()
    if block is None:
        raise GraphError(f"data: {name}: there is no open Program; use `with Program():`")
    if not isinstance(spec, Spec):
        spec = Spec(tuple(spec), np.dtype(dtype or np.float32), num_levels, LoDTensor if num_levels else np.ndarray)
    spec = spec._replace(dtype=np.dtype(spec.dtype))
    if spec.num_levels and spec.kind is np.ndarray:
        spec = spec._replace(kind=LoDTensor)
    variable = Variable(name, None, spec, block)
    block.add(variable, name)
    block.feeds.append(variable)
    return variable


# -- kinds of tensors, and which may stand for which -----------------------------------------------------------------

_INHERITANCE: dict[type, tuple[type, ...]] = {}


def register_inheritance(child: type, *parents: type) -> None:
    """Let Variables that hold one kind of tensor stand where another is wanted: the second of the two steps.

    Parameters
    ----------
    child : type
        Implements the interface `Tensor`, which was the first step.
    *parents : type
    """
    _INHERITANCE[child] = (*_INHERITANCE.get(child, ()), *parents)


def is_inheritance_of(var: Variable, kind: type) -> bool:
    """Tell whether what a Variable holds may stand where a kind of tensor is wanted.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph import Variable, is_inheritance_of
    >>> is_inheritance_of(Variable("x", lodcore.array([[1], []])), lodcore.DenseTensor)
    True
    """
    if not var.has_value:
        return False
    held = var.get()
    if isinstance(held, kind):
        return True
    return any(kind in _INHERITANCE.get(base, ()) for base in type(held).__mro__)


def var_get_mutable(var: Variable, T: type, enable_inheritance: bool = True) -> Any:
    """Give what a Variable holds as a kind of tensor, or let it hold an empty one.

    Parameters
    ----------
    var : Variable
    T : type
        The kind of tensor that is wanted.
    enable_inheritance : bool, default True
        Give a kind that may stand for T (`is_inheritance_of`) as it is, instead of making a T.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph import Variable, var_get_mutable
    >>> x = Variable("x", lodcore.array([[1], []]))
    >>> var_get_mutable(x, lodcore.DenseTensor)
    LoDTensor(2 sequences of lengths 0..1, int64: [[1], []])
    """
    if enable_inheritance and is_inheritance_of(var, T):
        return var.get()
    return var.get_mutable(T)


def _empty(kind: Any) -> Any:
    """Make an empty tensor of a kind."""
    if kind is DenseTensor or kind is np.ndarray:
        return kind(np.empty(0)) if kind is DenseTensor else np.empty(0)
    if kind is LoDTensor:
        return LoDTensor.from_lengths(np.empty(0), [])
    return kind()


register_inheritance(LoDTensor, DenseTensor)
register_inheritance(np.ndarray, DenseTensor)
