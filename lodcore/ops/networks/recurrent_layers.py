"""Recurrent layers as operators: the product of the inputs, the network, and the states after each sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.errors import ShapeError
from lodcore.operators.arguments import choice_of, fits, level_of
from lodcore.operators.numbers import is_real
from lodcore.operators.operands import Array
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense, Nested
from lodcore.ops.networks.gates import ACTIVATIONS, GateRule, GradientNeeds, last_states, last_states_back
from lodcore.ops.networks.gru import (
    GRUWeights,
    LayerGradients,
    gru_backward,
    gru_forward,
    simple_backward,
    simple_forward,
)
from lodcore.ops.networks.lstm import LSTMWeights, lstm_backward, lstm_forward
from lodcore.ops.networks.recurrent import cotangent_of, dtype_of, of_one_dtype, operands
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.tensor import Spec

__all__ = ["gru_layer", "lstm_layer", "simple_layer"]

OF_STATES = "of the states that of `x`, of the last ones none"


@operator(
    x=Nested, weight_x=Dense, weight_h=Dense, bias=Dense, projection=Dense, h_0=Dense, c_0=Dense, lod_rule=OF_STATES,
    results=3,
)  # fmt: skip
def lstm_layer(
    x: Any,
    weight_x: Any,
    weight_h: Any,
    bias: Any,
    projection: Any = None,
    h_0: Any = None,
    c_0: Any = None,
    use_peepholes: bool = False,
    clip: float | None = None,
    is_reverse: bool = False,
    level: int = -1,
    *,
    saved: Saved = None,
) -> Any:
    """Run an LSTM over the rows of each sequence; return its last states, too.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of shape (n_in,).
    weight_x : array_like, shape (n_in, 4 * D)
        The weight from the inputs to candidate, input gate, forget gate and output gate, in this order.
    weight_h : array_like, shape (R, 4 * D)
        The weight of the state; R equals D without a projection.
    bias : array_like, shape (4 * D,), with peepholes (7 * D,)
        As in `dynamic_lstm`.
    projection : array_like, shape (D, R), optional
        If given, the state is the output of the gates times this matrix.
    h_0, c_0 : array_like, shape (number of sequences, R) and (number of sequences, D), optional
        State and cell before the first row of each sequence, both or neither; by default zeros.
    use_peepholes : bool
    clip : float, optional
        The bound of the cell, which is clipped to -clip .. clip.
    is_reverse : bool
        Whether to process each sequence from its last row to the first; results keep the order of the rows.
    level : int
        The level of the sequences; all rows of one are processed.

    Returns
    -------
    hidden : LoDTensor
        Has the LoD of x and rows of shape (R,).
    last_hidden, last_cell : ndarray, shape (number of sequences, R) and (number of sequences, D)
        State and cell after the row that is processed last; the initial ones for an empty sequence.

    Raises
    ------
    ShapeError, DTypeError, LoDError, LevelError, ValueError
        If shapes do not match, the common dtype is not float32 or float64, the level does not exist, only one of h_0
        and c_0 is given, or clip is not above 0.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[0.0], [0.5]], [2, 0])
    >>> weight_x, bias = [[1.0, 0.0, 0.0, 0.0]], [0.0, 50.0, 50.0, 50.0]
    >>> hidden, last_hidden, last_cell = lodcore.ops.lstm_layer(x, weight_x, np.zeros((1, 4)), bias)
    >>> last_cell.round(4)
    array([[0.4621],
           [0.    ]])
    """
    where = "lstm_layer"
    given = {"projection": projection, "weight_x": weight_x, "weight_h": weight_h, "bias": bias, "h_0": h_0, "c_0": c_0}
    x, given = operands(where, x, **given)
    k, rule = level_of(where, x.lod, level), GateRule(clip=_bound(clip))
    width = _check_lstm(x.values.shape, given, x.lod.num_sequences(k), use_peepholes)
    assert width is not None
    rows, arrays = of_one_dtype(where, x.values, given)
    line, offsets = arrays["bias"], np.asarray(lod_body.in_rows(x.lod, k))
    peepholes = line[4 * width :] if use_peepholes else None
    weights = LSTMWeights(arrays["weight_h"], arrays["weight_x"], line[: 4 * width], peepholes, arrays["projection"])
    backwards, c_0 = bool(is_reverse), arrays["c_0"]
    h_0 = _boot_of(arrays["h_0"], weights.weight, len(offsets) - 1, weights.weight.shape[0])
    hidden, _, network = lstm_forward(rows, offsets, weights, rule, h_0, c_0, backwards)
    states, cells = zip(*network.lasts, strict=True)
    count = len(offsets) - 1
    lasts = last_states(network.bundles, states, h_0, count), last_states(network.bundles, cells, c_0, count)
    if saved is not None:
        saved["network"] = network
    return lod_tensor_body.new_tensor(hidden, x.lod), *lasts


@lstm_layer.define_infer
def _(
    x: Spec,
    weight_x: Spec,
    weight_h: Spec,
    bias: Spec,
    projection: Spec | None,
    h_0: Spec | None,
    c_0: Spec | None,
    use_peepholes: bool,
    clip: float | None,
    is_reverse: bool,
    level: int,
) -> tuple[Spec, Spec, Spec]:
    where = "lstm_layer"
    given = {"projection": projection, "weight_x": weight_x, "weight_h": weight_h, "bias": bias, "h_0": h_0, "c_0": c_0}
    x, given = operands(where, x, **given)
    level_of(where, x, level)
    _bound(clip)
    width = _check_lstm(x.shape, given, None, use_peepholes)
    state = width if given["projection"] is None else given["projection"].shape[1]
    dtype = dtype_of(where, x.dtype, given)
    return Spec((x.shape[0], state), dtype, x.num_levels), Spec((None, state), dtype), Spec((None, width), dtype)


@lstm_layer.define_vjp
def _(
    d_hidden: Array | None, d_last: Array | None, d_last_cell: Array | None, network: Any, needs: Any
) -> tuple[Any, ...]:
    d_states, d_h_0 = _with_last(network, d_hidden, d_last)
    d_cells, d_c_0 = _with_last(network, None, d_last_cell)
    found = lstm_backward(network, d_states, d_cells, GradientNeeds(*needs[:5]))
    of = found.weights
    d_bias = of.bias if of.peepholes is None or of.bias is None else np.concatenate([of.bias, of.peepholes])
    boots = _plus(found.h_0, d_h_0), _plus(found.c_0, d_c_0)
    return found.x, of.weight_x, of.weight, d_bias, of.projection, *boots


@operator(x=Nested, weight_x=Dense, weight_h=Dense, bias=Dense, h_0=Dense, lod_rule=OF_STATES, results=2)
def gru_layer(
    x: Any,
    weight_x: Any,
    weight_h: Any,
    bias: Any,
    h_0: Any = None,
    origin_mode: bool = False,
    is_reverse: bool = False,
    level: int = -1,
    *,
    saved: Saved = None,
) -> Any:
    """Run a GRU over the rows of each sequence; return its last states, too.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of shape (n_in,).
    weight_x : array_like, shape (n_in, 3 * D)
        The weight from the inputs to update gate, reset gate and candidate, in this order.
    weight_h : array_like, shape (D, 3 * D)
        The weight of the state: a buffer, as in `dynamic_gru`.
    bias : array_like, shape (3 * D,)
    h_0 : array_like, shape (number of sequences, D), optional
        The state before the first row of each sequence; by default zeros.
    origin_mode : bool
        As in `dynamic_gru`.
    is_reverse : bool
        Whether to process each sequence from its last row to the first; results keep the order of the rows.
    level : int
        The level of the sequences; all rows of one are processed.

    Returns
    -------
    hidden : LoDTensor
        Has the LoD of x and rows of shape (D,).
    last_hidden : ndarray, shape (number of sequences, D)
        The state after the row that is processed last; the initial one for an empty sequence.

    Raises
    ------
    ShapeError, DTypeError, LoDError, LevelError
        If shapes do not match, the common dtype is not float32 or float64, or the level does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[0.5], [9.0]], [2, 0])
    >>> weight_x = [[-20.0, 0.0, 1.0]]
    >>> hidden, last = lodcore.ops.gru_layer(x, weight_x, np.zeros((1, 3)), [50.0, 0.0, 0.0])
    >>> last.round(4)
    array([[0.4621],
           [0.    ]])
    """
    x, rows, offsets, weights, boot = _arrays("gru_layer", 3, x, weight_x, weight_h, bias, h_0, level)
    rule, backwards = GateRule(origin_mode=bool(origin_mode)), bool(is_reverse)
    hidden, network = gru_forward(rows, offsets, weights, rule, boot, backwards)
    last = last_states(network.bundles, network.lasts, boot, len(offsets) - 1)
    if saved is not None:
        saved["network"] = network
    return lod_tensor_body.new_tensor(hidden, x.lod), last


@gru_layer.define_infer
def _(
    x: Spec,
    weight_x: Spec,
    weight_h: Spec,
    bias: Spec,
    h_0: Spec | None,
    origin_mode: bool,
    is_reverse: bool,
    level: int,
) -> tuple[Spec, Spec]:
    return _specs("gru_layer", 3, x, weight_x, weight_h, bias, h_0, level)


@gru_layer.define_vjp
def _(d_hidden: Array | None, d_last: Array | None, network: Any, needs: Any) -> tuple[Any, ...]:
    d_states, d_h_0 = _with_last(network, d_hidden, d_last)
    assert d_states is not None
    return _gradients(gru_backward(network, d_states, GradientNeeds(*needs[:4])), d_h_0)


@operator(x=Nested, weight_x=Dense, weight_h=Dense, bias=Dense, h_0=Dense, lod_rule=OF_STATES, results=2)
def simple_layer(
    x: Any,
    weight_x: Any,
    weight_h: Any,
    bias: Any,
    h_0: Any = None,
    activation: str = "tanh",
    is_reverse: bool = False,
    level: int = -1,
    *,
    saved: Saved = None,
) -> Any:
    """Run a network with one activation over the rows of each sequence; return its last states, too.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of shape (n_in,).
    weight_x : array_like, shape (n_in, D)
    weight_h : array_like, shape (D, D)
    bias : array_like, shape (D,)
    h_0 : array_like, shape (number of sequences, D), optional
        The state before the first row of each sequence; by default zeros.
    activation : str
        "tanh", "sigmoid", "relu" or "identity".
    is_reverse : bool
        Whether to process each sequence from its last row to the first; results keep the order of the rows.
    level : int
        The level of the sequences; all rows of one are processed.

    Returns
    -------
    hidden : LoDTensor
        Has the LoD of x and rows of shape (D,).
    last_hidden : ndarray, shape (number of sequences, D)
        The state after the row that is processed last; the initial one for an empty sequence.

    Raises
    ------
    ShapeError, DTypeError, LoDError, LevelError, ValueError
        If shapes do not match, the common dtype is not float32 or float64, the level does not exist, or the activation
        is unknown.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[1.0], [2.0]], [2, 0])
    >>> hidden, last = lodcore.ops.simple_layer(x, [[1.0]], [[10.0]], [0.5], activation="identity")
    >>> hidden.values[:, 0].tolist(), last[:, 0].tolist()
    ([1.5, 17.5], [17.5, 0.0])
    """
    number, backwards = _activation(activation), bool(is_reverse)
    x, rows, offsets, weights, boot = _arrays("simple_layer", 1, x, weight_x, weight_h, bias, h_0, level)
    hidden, network = simple_forward(rows, offsets, weights, number, boot, backwards)
    last = last_states(network.bundles, network.lasts, boot, len(offsets) - 1)
    if saved is not None:
        saved["network"] = network
    return lod_tensor_body.new_tensor(hidden, x.lod), last


@simple_layer.define_infer
def _(
    x: Spec,
    weight_x: Spec,
    weight_h: Spec,
    bias: Spec,
    h_0: Spec | None,
    activation: str,
    is_reverse: bool,
    level: int,
) -> tuple[Spec, Spec]:
    _activation(activation)
    return _specs("simple_layer", 1, x, weight_x, weight_h, bias, h_0, level)


@simple_layer.define_vjp
def _(d_hidden: Array | None, d_last: Array | None, network: Any, needs: Any) -> tuple[Any, ...]:
    d_states, d_h_0 = _with_last(network, d_hidden, d_last)
    assert d_states is not None
    return _gradients(simple_backward(network, d_states, GradientNeeds(*needs[:4])), d_h_0)


# -- arguments ---------------------------------------------------------------------------------------------------------


def _activation(activation: Any) -> int:
    return ACTIVATIONS[choice_of("simple_layer: activation", activation, tuple(ACTIVATIONS))]


def _bound(clip: Any) -> float:
    """Return the bound of a cell; infinity for None."""
    if clip is None:
        return np.inf
    if not is_real(clip) or not clip > 0:
        raise ValueError(f"lstm_layer: clip: is {clip!r}; a number above 0 is needed")
    return float(clip)


def _check_lstm(x: Any, given: dict[str, Any], count: int | None, use_peepholes: bool) -> int | None:
    """Check the shapes of an LSTM; return its number of cells."""
    if (given["h_0"] is None) != (given["c_0"] is None):
        missing, there = ("h_0", "c_0") if given["h_0"] is None else ("c_0", "h_0")
        raise ValueError(f"lstm_layer: {missing}: is missing; {there} is given, and both or neither are needed")
    return _check("lstm_layer", x, given, count, 4, 7 if use_peepholes else 4)


def _check(where: str, x: Any, given: dict[str, Any], count: int | None, gates: int, widths: int) -> int | None:
    """Check the shapes of all operands; return the number of cells. Sizes of Specs may be None."""
    weight, n_in = given["weight_h"].shape, given["weight_x"].shape[:1]
    columns = weight[1] if len(weight) == 2 else None
    if len(weight) != 2 or (columns is not None and columns % gates):
        raise ShapeError(f"{where}: weight_h: has shape {weight}; two axes are needed, the second of {gates} * D")
    width = None if columns is None else columns // gates
    state = width if given.get("projection") is None else weight[0]
    line = None if width is None else widths * width
    wanted = {
        "projection": (width, state),
        "weight_h": (state, columns),
        "weight_x": (n_in[0] if n_in else None, columns),
        "bias": (line,),
        "h_0": (count, state),
        "c_0": (count, width),
    }
    for name, one in given.items():
        if one is not None and not fits(one.shape, *wanted[name]):
            sizes = ", ".join(map(str, wanted[name]))
            needed = f"({sizes}{',' * (len(wanted[name]) == 1)}) is needed for a weight_h of shape {weight}"
            raise ShapeError(f"{where}: {name}: has shape {one.shape}; {needed}")
    if not fits(x, None, *n_in):
        raise ShapeError(f"{where}: x: has rows of shape {x[1:]}; {n_in} is needed, as weight_x has rows")
    return width


def _arrays(
    where: str, gates: int, x: Any, weight_x: Any, weight_h: Any, bias: Any, h_0: Any, level: int
) -> tuple[Any, Array, Array, GRUWeights, Array | None]:
    """Return the operands of a network without cells: x, its rows, their offsets, weights and boot states."""
    x, given = operands(where, x, weight_h=weight_h, weight_x=weight_x, bias=bias, h_0=h_0)
    k = level_of(where, x.lod, level)
    _check(where, x.values.shape, given, x.lod.num_sequences(k), gates, gates)
    rows, arrays = of_one_dtype(where, x.values, given)
    weights = GRUWeights(arrays["weight_h"], arrays["weight_x"], arrays["bias"])
    boot = _boot_of(arrays["h_0"], weights.weight, x.lod.num_sequences(k), weights.weight.shape[0])
    return x, rows, np.asarray(lod_body.in_rows(x.lod, k)), weights, boot


def _boot_of(given: Array | None, weight: Array, count: int, width: int) -> Array | None:
    """Return boot states: zeros instead of None if products with the weights are not all zero, for nan or infinity."""
    if given is None and count and not kernels.machine.is_below(weight, np.inf):
        return np.zeros((count, width), weight.dtype)
    return given


def _specs(
    where: str, gates: int, x: Any, weight_x: Any, weight_h: Any, bias: Any, h_0: Any, level: int
) -> tuple[Spec, Spec]:
    """Return the Specs of the results of a network without cells."""
    x, given = operands(where, x, weight_h=weight_h, weight_x=weight_x, bias=bias, h_0=h_0)
    level_of(where, x, level)
    width = _check(where, x.shape, given, None, gates, gates)
    dtype = dtype_of(where, x.dtype, given)
    return Spec((x.shape[0], width), dtype, x.num_levels), Spec((None, width), dtype)


# -- gradients ---------------------------------------------------------------------------------------------------------


def _with_last(network: Any, d_states: Array | None, d_last: Array | None) -> tuple[Array | None, Array | None]:
    """Add the cotangent of last states to that of all states, or for empty sequences to that of their boot states."""
    dtype = network.weights.weight.dtype
    d_states, d_last = cotangent_of(d_states, dtype), cotangent_of(d_last, dtype)
    if d_last is None:
        return d_states, None
    return last_states_back(d_last, d_states, None, len(network.x), network.offsets, network.bundles[0].backwards)


def _plus(d: Array | None, other: Array | None) -> Array | None:
    return d if d is None or other is None else d + other


def _gradients(found: LayerGradients, d_h_0: Array | None) -> tuple[Any, ...]:
    """Return the gradients of the operands of a network without cells."""
    of = found.weights
    return found.x, of.weight_x, of.weight, of.bias, _plus(found.h_0, d_h_0)
