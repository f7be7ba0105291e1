"""Layers on rows: a layer stores its sizes only; its parameters are a dict of arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.base.dtypes import NO_DTYPE
from lodcore.base.keywords import hinting
from lodcore.base.naming import call_named
from lodcore.errors import DTypeError, ShapeError
from lodcore.graph.variable import Variable, resolved
from lodcore.operators.arguments import fits, integer_of
from lodcore.operators.numbers import number_of
from lodcore.ops import layer_norm, lookup_table
from lodcore.ops.elementwise.dropout import dropout
from lodcore.ops.networks.linear import linear
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["Dropout", "Embedding", "LayerNorm", "Linear"]

Array = np.ndarray[Any, Any]


@hinting
@dataclass(frozen=True)
class Linear:
    """A linear layer, which multiplies rows by a matrix and adds a bias.

    Parameters
    ----------
    n_in, n_out : int
        The widths of the rows of input and result.

    Raises
    ------
    DTypeError, ValueError
        If a size is not an integer, or below 0.

    Notes
    -----
    Parameters: `weight`, shape (n_in, n_out), and `bias`, shape (n_out,). `init` draws weights uniformly within
    sqrt(6 / (n_in + n_out)) of zero; the bias is zero.

    References
    ----------
    X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks", AISTATS 2010.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.Linear(2, 3)
    >>> parameters = layer.init(np.random.default_rng(0))
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 2), np.float32), [2, 0, 1])
    >>> layer(parameters, x).shape
    (3, None, 3)
    """

    __module__ = "lodcore.nn"

    n_in: int
    n_out: int

    def __post_init__(self) -> None:
        check_sizes("Linear", n_in=self.n_in, n_out=self.n_out)

    def init(self, rng: np.random.Generator, dtype: npt.DTypeLike = np.float32) -> dict[str, Array]:
        """Draw parameters.

        Parameters
        ----------
        rng : numpy.random.Generator
        dtype : dtype_like
            float32 or float64.

        Returns
        -------
        dict of ndarray
        """
        made = dtype_for("Linear.init", rng, dtype)
        return {"weight": even(rng, self.n_in, self.n_out, made), "bias": np.zeros(self.n_out, made)}

    def __call__(self, parameters: Any, x: Any) -> Any:
        """Compute x @ weight + bias.

        Parameters
        ----------
        parameters : dict
        x : LoDTensor or array_like, shape (..., n_in)

        Returns
        -------
        LoDTensor or ndarray, shape (..., n_out)
            Has the LoD of x.
        """
        weight, bias = parts_of("Linear", parameters, "weight", "bias")
        check_width("Linear: x", x, self.n_in)
        shape = np.shape(weight) if isinstance(weight, (list, tuple)) else weight.shape
        if shape != (self.n_in, self.n_out):
            raise ShapeError(f"Linear: weight: has shape {shape}; {(self.n_in, self.n_out)} is needed")
        return call_named("Linear", linear, x, weight, bias)


@hinting
@dataclass(frozen=True)
class Embedding:
    """A table whose rows are looked up by their numbers.

    Parameters
    ----------
    n_rows, width : int
        The sizes of the table.

    Raises
    ------
    DTypeError, ValueError
        If a size is not an integer, or below 0.

    Notes
    -----
    Parameters: `table`, shape (n_rows, width). `init` draws normally distributed numbers with standard deviation
    1 / sqrt(width). The gradient of the table is a SparseTensor of the rows that were looked up.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.Embedding(10, 4)
    >>> parameters = layer.init(np.random.default_rng(0))
    >>> words = lodcore.array([[1, 2], [], [2]])
    >>> layer(parameters, words).shape
    (3, None, 4)
    >>> loss = lambda parameters: lodcore.ops.sum(layer(parameters, words))
    >>> lodcore.value_and_grad(loss)(parameters)[1]["table"]
    SparseTensor(3 of 10 rows, shape (10, 4), float32)
    """

    __module__ = "lodcore.nn"

    n_rows: int
    width: int

    def __post_init__(self) -> None:
        check_sizes("Embedding", n_rows=self.n_rows, width=self.width)

    def init(self, rng: np.random.Generator, dtype: npt.DTypeLike = np.float32) -> dict[str, Array]:
        """Draw parameters.

        Parameters
        ----------
        rng : numpy.random.Generator
        dtype : dtype_like
            float32 or float64.

        Returns
        -------
        dict of ndarray
        """
        made = dtype_for("Embedding.init", rng, dtype)
        table = rng.standard_normal((self.n_rows, self.width)) / math.sqrt(self.width or 1)
        return {"table": table.astype(made)}

    def __call__(self, parameters: Any, ids: Any) -> Any:
        """Look up rows.

        Parameters
        ----------
        parameters : dict
        ids : LoDTensor, nested lists or ndarray of integers
            0 .. n_rows - 1.

        Returns
        -------
        LoDTensor or ndarray, shape (..., width)
            Has the LoD of ids.
        """
        (table,) = parts_of("Embedding", parameters, "table")
        shape = shape_of(table)
        if shape[1:] != (self.width,) or shape[0] not in (None, self.n_rows):
            raise ShapeError(f"Embedding: table: has shape {shape}; ({self.n_rows}, {self.width}) is needed")
        return call_named("Embedding", lookup_table, table, ids)


@hinting
@dataclass(frozen=True)
class LayerNorm:
    """A layer that normalizes each row to mean 0 and variance 1, then scales and shifts it.

    Parameters
    ----------
    width : int
        The width of the rows.
    eps : float
        Added to the variance.

    Raises
    ------
    DTypeError, ValueError
        If a size is not a number, or below 0.

    Notes
    -----
    Parameters: `scale`, initially ones, and `shift`, initially zeros, both of shape (width,).

    References
    ----------
    J. L. Ba, J. R. Kiros, G. E. Hinton, "Layer normalization", arXiv 1607.06450, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.LayerNorm(2)
    >>> parameters = layer.init(np.random.default_rng(0), np.float64)
    >>> x = lodcore.LoDTensor.from_lengths([[0.0, 2.0], [5.0, 1.0]], [1, 0, 1])
    >>> layer(parameters, x).values.round(3)
    array([[-1.,  1.],
           [ 1., -1.]])
    """

    __module__ = "lodcore.nn"

    width: int
    eps: float = 1e-5

    def __post_init__(self) -> None:
        check_sizes("LayerNorm", width=self.width)
        number_of("LayerNorm: eps", self.eps, 0)

    def init(self, rng: np.random.Generator, dtype: npt.DTypeLike = np.float32) -> dict[str, Array]:
        """Make parameters.

        Parameters
        ----------
        rng : numpy.random.Generator
            Not used.
        dtype : dtype_like
            float32 or float64.

        Returns
        -------
        dict of ndarray
        """
        made = dtype_for("LayerNorm.init", rng, dtype)
        return {"scale": np.ones(self.width, made), "shift": np.zeros(self.width, made)}

    def __call__(self, parameters: Any, x: Any) -> Any:
        """Normalize rows.

        Parameters
        ----------
        parameters : dict
        x : LoDTensor or array_like, shape (..., width)

        Returns
        -------
        LoDTensor or ndarray
            Has the shape and the LoD of x.
        """
        scale, shift = parts_of("LayerNorm", parameters, "scale", "shift")
        check_width("LayerNorm: x", x, self.width)
        return call_named("LayerNorm", layer_norm, x, scale, shift, self.eps)


@hinting
@dataclass(frozen=True)
class Dropout:
    """A layer that sets numbers to zero at random while a network is trained, and scales the others up.

    Parameters
    ----------
    rate : float
        The probability that a number is dropped, 0 .. 1.

    Raises
    ------
    DTypeError, ValueError
        If the rate is not a number, or out of bounds.

    Notes
    -----
    It has no parameters: `init` returns an empty dict. Without a generator nothing is dropped.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.Dropout(0.5)
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0, 4.0]])
    >>> layer({}, x, np.random.default_rng(1))
    LoDTensor(3 sequences of lengths 0..2, float64: [[0., 4.], [], [6., 8.]])
    >>> layer({}, x) is x
    True
    """

    __module__ = "lodcore.nn"

    rate: float

    def __post_init__(self) -> None:
        number_of("Dropout: rate", self.rate, 0, 1)

    def init(self, rng: np.random.Generator, dtype: npt.DTypeLike = np.float32) -> dict[str, Array]:
        """Return no parameters.

        Parameters
        ----------
        rng : numpy.random.Generator
            Not used.
        dtype : dtype_like
            float32 or float64; not used.

        Returns
        -------
        dict
        """
        dtype_for("Dropout.init", rng, dtype)
        return {}

    def __call__(self, parameters: Any, x: Any, rng: np.random.Generator | None = None) -> Any:
        """Drop numbers.

        Parameters
        ----------
        parameters : dict
            Not used.
        x : LoDTensor or array_like of floating-point numbers
        rng : numpy.random.Generator, optional
            As in `nn.dropout`; nothing is dropped without it.

        Returns
        -------
        LoDTensor or ndarray
            Has the LoD and the dtype of x.
        """
        return dropout(x, self.rate, rng)


# -- helpers of layers -------------------------------------------------------------------------------------------------


def check_sizes(where: str, **sizes: Any) -> None:
    """Raise if a size is not an integer of 0 or more."""
    for name, size in sizes.items():
        integer_of(f"{where}: {name}", size, 0)


def dtype_for(where: str, rng: Any, dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Check a generator and a dtype for new parameters; return the dtype."""
    if not isinstance(rng, np.random.Generator):
        raise DTypeError(f"{where}: rng: is {type(rng).__name__}; a numpy.random.Generator is needed")
    try:
        made = np.dtype(dtype)
    except NO_DTYPE:
        raise DTypeError(f"{where}: dtype: is {dtype!r}; float32 or float64 is needed") from None
    if made.char not in "fd":
        raise DTypeError(f"{where}: dtype: is {made}; float32 or float64 is needed")
    return made


def even(rng: np.random.Generator, n_in: int, n_out: int, dtype: np.dtype[Any]) -> Array:
    """Draw a matrix uniformly within sqrt(6 / (n_in + n_out)) of zero."""
    limit = math.sqrt(6 / max(n_in + n_out, 1))
    return rng.uniform(-limit, limit, (n_in, n_out)).astype(dtype)


def parts_of(where: str, parameters: Any, *names: str) -> list[Any]:
    """Return the parameters of a layer by name."""
    if not isinstance(parameters, dict):
        raise DTypeError(f"{where}: parameters: is {type(parameters).__name__}; a dict of {', '.join(names)} is needed")
    missing = [name for name in names if name not in parameters]
    if missing:
        raise KeyError(f"{where}: parameters: has no {missing[0]!r}; {', '.join(names)} are needed")
    return [parameters[name] for name in names]


def shape_of(x: Any) -> tuple[int | None, ...]:
    """Return the shape of the values of a tensor, or of a Variable, as far as it is known."""
    known = resolved(x)
    if isinstance(known, Variable):
        return known.spec.shape
    return known.values.shape if isinstance(known, LoDTensor) else np.shape(known)


def check_shape(where: str, x: Any, *needed: int) -> None:
    """Raise if a parameter has another shape, as far as it is known."""
    shape = shape_of(x)
    if not fits(shape, *needed):
        raise ShapeError(f"{where}: has shape {shape}; {needed} is needed")


def check_width(where: str, x: Any, width: int) -> None:
    """Raise if rows have another width."""
    shape = shape_of(x)
    if not shape or shape[-1] not in (None, width):
        raise ShapeError(f"{where}: has shape {shape}; rows of {width} numbers are needed")
