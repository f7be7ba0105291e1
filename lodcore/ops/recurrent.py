"""Recurrent operators of inputs that were multiplied already: LSTM and GRU, fused."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import tensor_core
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.ops.common import Array, below
from lodcore.ops.gates import ACTIVATIONS, Rule
from lodcore.ops.gru import GRUWeights, gru_backward, gru_forward
from lodcore.ops.lstm import LSTMWeights, lstm_backward, lstm_forward
from lodcore.ops.window import DOUBLE, SINGLE, dense
from lodcore.registry import Dense, Nested, Spec, op
from lodcore.tensor import LoDTensor, as_nested

__all__ = ["dynamic_gru", "dynamic_lstm"]

Shape = tuple[int | None, ...]


@op(lod="share", results=2)
def dynamic_lstm(
    x: Nested,
    weight: Dense,
    bias: Dense = None,
    h_0: Dense = None,
    c_0: Dense = None,
    use_peepholes: bool = False,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
) -> tuple[LoDTensor, LoDTensor]:
    """Run a LSTM over the rows of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of shape (4 * D,): the inputs times their weight. The sequences of the last level are run.
    weight : array_like, shape (D, 4 * D)
        From the state to candidate, input gate, forget gate and output gate, in this order.
    bias : array_like, shape (4 * D,) or (1, 4 * D), optional
        With peepholes (7 * D,) or (1, 7 * D): behind the bias of the gates, the weights of the cell for input, forget
        and output gate. Zeros, if not given.
    h_0, c_0 : array_like, shape (number of sequences, D), optional
        State and cell before the first row of each sequence, both or neither; zeros, if not given.
    use_peepholes : bool
        Whether the gates see the cell: input and forget gate the one before, the output gate the new one.
    is_reverse : bool
        Run each sequence from its last row to the first; results stay in the places of their rows.
    gate_activation, cell_activation, candidate_activation : str
        "sigmoid", "tanh", "relu" or "identity".

    Returns
    -------
    hidden, cell : LoDTensor
        With the LoD of x and rows of shape (D,), float32 or float64 as NumPy's promotion says.

    Raises
    ------
    ShapeError, DTypeError, LoDError, ValueError
        If shapes do not fit together, the numbers are no floats, only one of h_0 and c_0 is given, an activation is
        unknown, or peepholes are wanted without a bias.

    Notes
    -----
    ::

        u, i, f, o = split(x[t] + hidden[t - 1] @ weight + bias)
        cell[t] = sigmoid(f) * cell[t - 1] + sigmoid(i) * tanh(u)
        hidden[t] = sigmoid(o) * tanh(cell[t])

    The gates have the same bits on every processor. Products do wherever the processor has AVX2 or AVX-512; elsewhere
    they are NumPy's.

    Examples
    --------
    >>> import lodcore
    >>> rows = [[0.0, 50.0, 0.0, 50.0], [0.5, 50.0, 50.0, 50.0]]
    >>> x = lodcore.LoDTensor.from_lengths(rows, [2])
    >>> hidden, cell = lodcore.dynamic_lstm(x, [[0.0, 0.0, 0.0, 0.0]])
    >>> cell.values[:, 0].round(4)
    array([0.    , 0.4621])
    """
    return _lstm(
        x, weight, bias, h_0, c_0, use_peepholes, is_reverse, gate_activation, cell_activation, candidate_activation
    )[0]


def _lstm(
    x: Any,
    weight: Any,
    bias: Any,
    h_0: Any,
    c_0: Any,
    use_peepholes: bool,
    is_reverse: bool,
    gate_activation: str,
    cell_activation: str,
    candidate_activation: str,
) -> tuple[tuple[LoDTensor, LoDTensor], Any]:
    """Compute, and give what the way back needs besides."""
    where = "dynamic_lstm"
    gate, act, candidate = _activations(
        where,
        gate_activation=gate_activation,
        cell_activation=cell_activation,
        candidate_activation=candidate_activation,
    )
    rows, lod, given = _taken(where, x, weight=weight, bias=bias, h_0=h_0, c_0=c_0)
    count = lod.num_sequences(lod.num_levels - 1)
    shapes = {name: None if one is None else one.shape for name, one in given.items()}
    width = _check_lstm(rows.shape, shapes, count, use_peepholes)
    rows, arrays = _of_one_dtype(where, rows, given)
    line = None if arrays["bias"] is None else arrays["bias"].reshape(-1)
    peepholes = line[4 * width :] if use_peepholes and line is not None else None
    weights = LSTMWeights(arrays["weight"], None, None if line is None else line[: 4 * width], peepholes)
    rule = Rule(gate, act, candidate)
    offsets = below(lod, lod.num_levels - 1)
    hidden, cell, residuals = lstm_forward(
        rows, np.asarray(offsets), weights, rule, arrays["h_0"], arrays["c_0"], bool(is_reverse)
    )
    assert cell is not None
    return (tensor_core.new_tensor(hidden, lod), tensor_core.new_tensor(cell, lod)), residuals


dynamic_lstm.saving(_lstm)


@dynamic_lstm.infer
def _(
    x: Spec,
    weight: Spec,
    bias: Spec | None,
    h_0: Spec | None,
    c_0: Spec | None,
    use_peepholes: bool,
    is_reverse: bool,
    gate_activation: str,
    cell_activation: str,
    candidate_activation: str,
) -> tuple[Spec, Spec]:
    where = "dynamic_lstm"
    _activations(
        where,
        gate_activation=gate_activation,
        cell_activation=cell_activation,
        candidate_activation=candidate_activation,
    )
    given = {"weight": weight, "bias": bias, "h_0": h_0, "c_0": c_0}
    _check_levels(where, x.num_levels, {name: one.num_levels for name, one in given.items() if one is not None})
    shapes = {name: None if one is None else one.shape for name, one in given.items()}
    width = _check_lstm(x.shape, shapes, None, use_peepholes)
    made = x._replace(shape=(x.shape[0], width), dtype=_dtype(where, x.dtype, given))
    return made, made


@dynamic_lstm.backward
def _(saved: Any, d_hidden: Array | None, d_cell: Array | None) -> tuple[Any, ...]:
    residuals = saved.hidden
    dtype = residuals.weights.weight.dtype
    found = lstm_backward(residuals, _cotangent(d_hidden, dtype), _cotangent(d_cell, dtype))
    d_bias = found.weights.bias
    if d_bias is not None:
        if found.weights.peepholes is not None:
            d_bias = np.concatenate([d_bias, found.weights.peepholes])
        d_bias = d_bias.reshape(np.shape(saved.bias))
    return found.x, found.weights.weight, d_bias, found.h_0, found.c_0


@op(lod="share")
def dynamic_gru(
    x: Nested,
    weight: Dense,
    bias: Dense = None,
    h_0: Dense = None,
    is_reverse: bool = False,
    origin_mode: bool = False,
    gate_activation: str = "sigmoid",
    candidate_activation: str = "tanh",
) -> LoDTensor:
    """Run a GRU over the rows of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of shape (3 * D,): the inputs times their weight, for update gate, reset gate and candidate. The sequences
        of the last level are run.
    weight : array_like, shape (D, 3 * D)
        From the state. Its cells are a buffer: the first 2 * D * D are a matrix of shape (D, 2 * D) for update and
        reset gate, the rest one of shape (D, D) for the candidate.
    bias : array_like, shape (3 * D,) or (1, 3 * D), optional
        Zeros, if not given.
    h_0 : array_like, shape (number of sequences, D), optional
        The state before the first row of each sequence; zeros, if not given.
    is_reverse : bool
        Run each sequence from its last row to the first; results stay in the places of their rows.
    origin_mode : bool
        The new state is u * before + (1 - u) * n; otherwise (1 - u) * before + u * n.
    gate_activation, candidate_activation : str
        "sigmoid", "tanh", "relu" or "identity".

    Returns
    -------
    LoDTensor
        With the LoD of x and rows of shape (D,), float32 or float64 as NumPy's promotion says.

    Raises
    ------
    ShapeError, DTypeError, LoDError, ValueError
        If shapes do not fit together, the numbers are no floats, or an activation is unknown.

    Notes
    -----
    The reset gate comes before the product::

        u, r = split(sigmoid(x[t, : 2 * D] + before @ weight_gates + bias[: 2 * D]))
        n = tanh(x[t, 2 * D :] + (r * before) @ weight_candidate + bias[2 * D :])

    The gates have the same bits on every processor. Products do wherever the processor has AVX2 or AVX-512; elsewhere
    they are NumPy's.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[50.0, 0.0, 0.5], [-50.0, 0.0, 9.0]], [2])
    >>> lodcore.dynamic_gru(x, [[0.0, 0.0, 0.0]]).values[:, 0].round(4)
    array([0.4621, 0.4621])
    """
    return _gru(x, weight, bias, h_0, is_reverse, origin_mode, gate_activation, candidate_activation)[0]


def _gru(
    x: Any,
    weight: Any,
    bias: Any,
    h_0: Any,
    is_reverse: bool,
    origin_mode: bool,
    gate_activation: str,
    candidate_activation: str,
) -> tuple[LoDTensor, Any]:
    """Compute, and give what the way back needs besides."""
    where = "dynamic_gru"
    gate, candidate = _activations(where, gate_activation=gate_activation, candidate_activation=candidate_activation)
    rows, lod, given = _taken(where, x, weight=weight, bias=bias, h_0=h_0)
    count = lod.num_sequences(lod.num_levels - 1)
    shapes = {name: None if one is None else one.shape for name, one in given.items()}
    _check_shapes(where, rows.shape, shapes, count, 3, 3)
    rows, arrays = _of_one_dtype(where, rows, given)
    line = None if arrays["bias"] is None else arrays["bias"].reshape(-1)
    rule = Rule(gate, 0, candidate, bool(origin_mode))
    weights = GRUWeights(arrays["weight"], None, line)
    offsets = np.asarray(below(lod, lod.num_levels - 1))
    hidden, residuals = gru_forward(rows, offsets, weights, rule, arrays["h_0"], bool(is_reverse))
    return tensor_core.new_tensor(hidden, lod), residuals


dynamic_gru.saving(_gru)


@dynamic_gru.infer
def _(
    x: Spec,
    weight: Spec,
    bias: Spec | None,
    h_0: Spec | None,
    is_reverse: bool,
    origin_mode: bool,
    gate_activation: str,
    candidate_activation: str,
) -> Spec:
    where = "dynamic_gru"
    _activations(where, gate_activation=gate_activation, candidate_activation=candidate_activation)
    given = {"weight": weight, "bias": bias, "h_0": h_0}
    _check_levels(where, x.num_levels, {name: one.num_levels for name, one in given.items() if one is not None})
    shapes = {name: None if one is None else one.shape for name, one in given.items()}
    width = _check_shapes(where, x.shape, shapes, None, 3, 3)
    return x._replace(shape=(x.shape[0], width), dtype=_dtype(where, x.dtype, given))


@dynamic_gru.backward
def _(saved: Any, d_hidden: Array) -> tuple[Any, ...]:
    residuals = saved.hidden
    cotangent = _cotangent(d_hidden, residuals.weights.weight.dtype)
    assert cotangent is not None
    found = gru_backward(residuals, cotangent)
    d_bias = found.weights.bias
    return found.x, found.weights.weight, None if d_bias is None else d_bias.reshape(np.shape(saved.bias)), found.h_0


# -- arguments ---------------------------------------------------------------------------------------------------------


def _taken(where: str, x: Any, **others: Any) -> tuple[Array, LoD, dict[str, Array | None]]:
    """Take the rows of x, its LoD, and dense arrays."""
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    _check_levels(where, x.num_levels, {})
    given = {name: None if one is None else dense(f"{where}: {name}", one) for name, one in others.items()}
    return x.values, x.lod, given


def _check_levels(where: str, num_levels: int, others: dict[str, int]) -> None:
    """Make sure that x has sequences, and that all else is dense."""
    if num_levels == 0:
        raise LoDError(f"{where}: x: has 0 levels; sequences are needed")
    for name, count in others.items():
        if count:
            raise LoDError(f"{where}: {name}: has {count} levels; a dense array is needed")


def _activations(where: str, **names: Any) -> list[int]:
    """Look up the numbers of activations, which are given by the names of their arguments."""
    for name, given in names.items():
        if not isinstance(given, str) or given not in ACTIVATIONS:
            known = ", ".join(f'"{one}"' for one in ACTIVATIONS)
            raise ValueError(f"{where}: {name}: is {given!r}; one of {known} is needed")
    return [ACTIVATIONS[given] for given in names.values()]


def _check_lstm(x: Shape, given: dict[str, Shape | None], count: int | None, use_peepholes: bool) -> int:
    """Check the shapes of a LSTM, and give its width."""
    where = "dynamic_lstm"
    if (given["h_0"] is None) != (given["c_0"] is None):
        missing, there = ("h_0", "c_0") if given["h_0"] is None else ("c_0", "h_0")
        raise ValueError(f"{where}: {missing}: is missing; {there} is given, and both or neither are needed")
    if use_peepholes and given["bias"] is None:
        raise ValueError(f"{where}: bias: is missing; with peepholes their weights are the last 3 * D of it")
    return _check_shapes(where, x, given, count, 4, 7 if use_peepholes else 4)


def _check_shapes(
    where: str, x: Shape, given: dict[str, Shape | None], count: int | None, gates: int, widths: int
) -> int:
    """Check the shapes of all operands, and give the width of a state; of Specs, sizes may be None."""
    weight = given["weight"] or ()
    columns = weight[1] if len(weight) == 2 else None
    if columns is None or columns % gates or not _fits(weight, columns // gates, columns):
        raise ShapeError(f"{where}: weight: has shape {weight}; (D, {gates} * D) is needed")
    width = columns // gates
    if not _fits(x, None, columns):
        raise ShapeError(
            f"{where}: x: has rows of shape {x[1:]}; ({columns},) is needed for a weight of shape {weight}"
        )
    bias, length = given["bias"], widths * width
    if bias is not None and not (_fits(bias, length) or _fits(bias, 1, length)):
        raise ShapeError(f"{where}: bias: has shape {bias}; ({length},) or (1, {length}) is needed, {widths} * D")
    for name in ("h_0", "c_0"):
        boot = given.get(name)
        if boot is not None and not _fits(boot, count, width):
            needed = "number of sequences" if count is None else count
            raise ShapeError(f"{where}: {name}: has shape {boot}; ({needed}, {width}) is needed, one row a sequence")
    return width


def _fits(shape: Shape, *needed: int | None) -> bool:
    """Tell whether a shape is the one that is needed, where both are known."""
    pairs = zip(shape, needed, strict=False)
    return len(shape) == len(needed) and all(size == wanted or size is None or wanted is None for size, wanted in pairs)


def _dtype(where: str, x: np.dtype[Any], given: dict[str, Any]) -> np.dtype[Any]:
    """Give the dtype in which all are computed."""
    dtypes = [x, *[one.dtype for one in given.values() if one is not None]]
    if all(one is SINGLE for one in dtypes):
        return SINGLE
    try:
        dtype = np.result_type(*dtypes)
    except TypeError:
        dtype = np.dtype(object)
    if dtype not in (SINGLE, DOUBLE):
        names = ", ".join(["x", *[name for name, one in given.items() if one is not None]])
        raise DTypeError(f"{where}: {names}: have dtypes {', '.join(map(str, dtypes))}; float32 or float64 is needed")
    return DOUBLE if dtype == DOUBLE else SINGLE


def _of_one_dtype(where: str, rows: Array, given: dict[str, Array | None]) -> tuple[Array, dict[str, Any]]:
    """Give all operands one dtype, and rows of a weight beside each other."""
    dtype = _dtype(where, rows.dtype, given)
    arrays = {name: None if one is None else np.ascontiguousarray(one, dtype) for name, one in given.items()}
    return np.ascontiguousarray(rows, dtype), arrays


def _cotangent(d: Array | None, dtype: np.dtype[Any]) -> Array | None:
    return None if d is None else np.ascontiguousarray(d, dtype)
