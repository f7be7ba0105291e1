"""Recurrent operators on inputs that have been multiplied by their weight already: fused LSTM and GRU."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import choice_of, dense_of, fits, nested_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense, Nested
from lodcore.ops.networks.gates import ACTIVATIONS, GateRule, GradientNeeds
from lodcore.ops.networks.gru import GRUWeights, gru_backward, gru_forward
from lodcore.ops.networks.lstm import LSTMWeights, lstm_backward, lstm_forward
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.tensor import Spec

__all__ = ["dynamic_gru", "dynamic_lstm"]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
KNOWN = tuple(ACTIVATIONS)
Shape = tuple[int | None, ...]


@operator(x=Nested, weight=Dense, bias=Dense, h_0=Dense, c_0=Dense, results=2)
def dynamic_lstm(
    x: Any,
    weight: Any,
    bias: Any = None,
    h_0: Any = None,
    c_0: Any = None,
    use_peepholes: bool = False,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
    *,
    saved: Saved = None,
) -> Any:
    """Run an LSTM over the rows of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of shape (4 * D,): the inputs times their weight. The sequences are those of the last level.
    weight : array_like, shape (D, 4 * D)
        The weight from the state to candidate, input gate, forget gate and output gate, in this order.
    bias : array_like, shape (4 * D,) or (1, 4 * D), optional
        With peepholes (7 * D,) or (1, 7 * D): the bias of the gates is followed by the weights of the cell for input,
        forget and output gate. By default zeros.
    h_0, c_0 : array_like, shape (number of sequences, D), optional
        State and cell before the first row of each sequence, both or neither; by default zeros.
    use_peepholes : bool
        Whether the gates depend on the cell: input and forget gate on the previous one, the output gate on the new one.
    is_reverse : bool
        Whether to process each sequence from its last row to the first; results keep the order of the rows.
    gate_activation, cell_activation, candidate_activation : str
        "sigmoid", "tanh", "relu" or "identity".

    Returns
    -------
    hidden, cell : LoDTensor
        Has the LoD of x and rows of shape (D,), float32 or float64 by NumPy's promotion.

    Raises
    ------
    ShapeError, DTypeError, LoDError, ValueError
        If shapes do not match, the common dtype is not float32 or float64, only one of h_0 and c_0 is given, an
        activation is unknown, or peepholes are requested without a bias.

    Notes
    -----
    ::

        u, i, f, o = split(x[t] + hidden[t - 1] @ weight + bias)
        cell[t] = sigmoid(f) * cell[t - 1] + sigmoid(i) * tanh(u)
        hidden[t] = sigmoid(o) * tanh(cell[t])

    The gates have the same bits on every processor; products have the same bits on every processor with AVX2 or
    AVX-512. Elsewhere, NumPy computes them.

    Examples
    --------
    >>> import lodcore
    >>> rows = [[0.0, 50.0, 0.0, 50.0], [0.5, 50.0, 50.0, 50.0]]
    >>> x = lodcore.LoDTensor.from_lengths(rows, [2])
    >>> hidden, cell = lodcore.dynamic_lstm(x, [[0.0, 0.0, 0.0, 0.0]])
    >>> cell.values[:, 0].round(4)
    array([0.    , 0.4621])
    """
    where = "dynamic_lstm"
    rule = _lstm_rule(gate_activation, cell_activation, candidate_activation)
    x, given = operands(where, x, weight=weight, bias=bias, h_0=h_0, c_0=c_0)
    lod, level = x.lod, x.num_levels - 1
    width = _check_lstm(x.values.shape, given, lod.num_sequences(level), use_peepholes)
    rows, arrays = of_one_dtype(where, x.values, given)
    assert width is not None
    line = None if arrays["bias"] is None else arrays["bias"].reshape(-1)
    peepholes = line[4 * width :] if use_peepholes and line is not None else None
    weights = LSTMWeights(arrays["weight"], None, None if line is None else line[: 4 * width], peepholes)
    offsets = np.asarray(lod_body.in_rows(lod, level))
    hidden, cell, network = lstm_forward(rows, offsets, weights, rule, arrays["h_0"], arrays["c_0"], bool(is_reverse))
    if saved is not None:
        saved["network"] = network
    return lod_tensor_body.new_tensor(hidden, lod), lod_tensor_body.new_tensor(cell, lod)


@dynamic_lstm.define_infer
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
    _lstm_rule(gate_activation, cell_activation, candidate_activation)
    x, given = operands(where, x, weight=weight, bias=bias, h_0=h_0, c_0=c_0)
    width = _check_lstm(x.shape, given, None, use_peepholes)
    made = Spec((x.shape[0], width), dtype_of(where, x.dtype, given))
    return made, made


@dynamic_lstm.define_vjp
def _(d_hidden: Array | None, d_cell: Array | None, bias: Any, network: Any, needs: Any) -> tuple[Any, ...]:
    dtype, asked = network.weights.weight.dtype, GradientNeeds(needs.x, False, needs.weight, needs.bias)
    found = lstm_backward(network, cotangent_of(d_hidden, dtype), cotangent_of(d_cell, dtype), asked)
    d_bias = found.weights.bias
    if d_bias is not None and found.weights.peepholes is not None:
        d_bias = np.concatenate([d_bias, found.weights.peepholes])
    return found.x, found.weights.weight, _shaped("dynamic_lstm", d_bias, bias), found.h_0, found.c_0


@operator(x=Nested, weight=Dense, bias=Dense, h_0=Dense)
def dynamic_gru(
    x: Any,
    weight: Any,
    bias: Any = None,
    h_0: Any = None,
    is_reverse: bool = False,
    origin_mode: bool = False,
    gate_activation: str = "sigmoid",
    candidate_activation: str = "tanh",
    *,
    saved: Saved = None,
) -> Any:
    """Run a GRU over the rows of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of shape (3 * D,): the inputs times their weight, for update gate, reset gate and candidate. The sequences
        are those of the last level.
    weight : array_like, shape (D, 3 * D)
        The weight of the state, used as a buffer: its first 2 * D * D entries are a matrix of shape (D, 2 * D) for
        update and reset gate, the rest is one of shape (D, D) for the candidate.
    bias : array_like, shape (3 * D,) or (1, 3 * D), optional
        By default zeros.
    h_0 : array_like, shape (number of sequences, D), optional
        The state before the first row of each sequence; by default zeros.
    is_reverse : bool
        Whether to process each sequence from its last row to the first; results keep the order of the rows.
    origin_mode : bool
        Whether the new state is u * before + (1 - u) * n; otherwise it is (1 - u) * before + u * n.
    gate_activation, candidate_activation : str
        "sigmoid", "tanh", "relu" or "identity".

    Returns
    -------
    LoDTensor
        Has the LoD of x and rows of shape (D,), float32 or float64 by NumPy's promotion.

    Raises
    ------
    ShapeError, DTypeError, LoDError, ValueError
        If shapes do not match, the common dtype is not float32 or float64, or an activation is unknown.

    Notes
    -----
    The reset gate is applied before the product::

        u, r = split(sigmoid(x[t, : 2 * D] + before @ weight_gates + bias[: 2 * D]))
        n = tanh(x[t, 2 * D :] + (r * before) @ weight_candidate + bias[2 * D :])

    The gates have the same bits on every processor; products have the same bits on every processor with AVX2 or
    AVX-512. Elsewhere, NumPy computes them.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[50.0, 0.0, 0.5], [-50.0, 0.0, 9.0]], [2])
    >>> lodcore.dynamic_gru(x, [[0.0, 0.0, 0.0]]).values[:, 0].round(4)
    array([0.4621, 0.4621])
    """
    where = "dynamic_gru"
    rule = _gru_rule(gate_activation, candidate_activation, origin_mode)
    x, given = operands(where, x, weight=weight, bias=bias, h_0=h_0)
    lod, level = x.lod, x.num_levels - 1
    _check_shapes(where, x.values.shape, given, lod.num_sequences(level), 3, 3)
    rows, arrays = of_one_dtype(where, x.values, given)
    line = None if arrays["bias"] is None else arrays["bias"].reshape(-1)
    weights = GRUWeights(arrays["weight"], None, line)
    offsets = np.asarray(lod_body.in_rows(lod, level))
    hidden, network = gru_forward(rows, offsets, weights, rule, arrays["h_0"], bool(is_reverse))
    if saved is not None:
        saved["network"] = network
    return lod_tensor_body.new_tensor(hidden, lod)


@dynamic_gru.define_infer
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
    _gru_rule(gate_activation, candidate_activation, origin_mode)
    x, given = operands(where, x, weight=weight, bias=bias, h_0=h_0)
    width = _check_shapes(where, x.shape, given, None, 3, 3)
    return Spec((x.shape[0], width), dtype_of(where, x.dtype, given))


@dynamic_gru.define_vjp
def _(d_hidden: Array, bias: Any, network: Any, needs: Any) -> tuple[Any, ...]:
    cotangent = cotangent_of(d_hidden, network.weights.weight.dtype)
    assert cotangent is not None
    found = gru_backward(network, cotangent, GradientNeeds(needs.x, False, needs.weight, needs.bias))
    return found.x, found.weights.weight, _shaped("dynamic_gru", found.weights.bias, bias), found.h_0


# -- arguments ---------------------------------------------------------------------------------------------------------


def operands(where: str, x: Any, **others: Any) -> tuple[Any, dict[str, Any]]:
    """Return x, which must have levels, and dense arrays by name; Specs likewise."""
    x = nested_of(f"{where}: x", x)
    if x.num_levels == 0:
        raise LoDError(f"{where}: x: has 0 levels; sequences are needed")
    for name, one in others.items():
        if one is not None and not (type(one) is np.ndarray and one.dtype.kind == "f"):  # the usual case
            others[name] = dense_of(f"{where}: {name}", one)
    return x, others


def _activations(where: str, **names: Any) -> list[int]:
    """Return the numbers of activations, given by argument name."""
    return [ACTIVATIONS[choice_of(f"{where}: {name}", given, KNOWN)] for name, given in names.items()]


def _lstm_rule(gate_activation: Any, cell_activation: Any, candidate_activation: Any) -> GateRule:
    """Return the rule of the gates of an LSTM."""
    gate, cell, candidate = _activations(
        "dynamic_lstm",
        gate_activation=gate_activation,
        cell_activation=cell_activation,
        candidate_activation=candidate_activation,
    )
    return GateRule(gate, cell, candidate)


def _gru_rule(gate_activation: Any, candidate_activation: Any, origin_mode: Any) -> GateRule:
    """Return the rule of the gates of a GRU."""
    gate, candidate = _activations(
        "dynamic_gru", gate_activation=gate_activation, candidate_activation=candidate_activation
    )
    return GateRule(gate, 0, candidate, bool(origin_mode))


def _check_lstm(x: Shape, given: dict[str, Any], count: int | None, use_peepholes: bool) -> int | None:
    """Check the shapes of an LSTM; return its width."""
    where = "dynamic_lstm"
    if (given["h_0"] is None) != (given["c_0"] is None):
        missing, there = ("h_0", "c_0") if given["h_0"] is None else ("c_0", "h_0")
        raise ValueError(f"{where}: {missing}: is missing; {there} is given, and both or neither are needed")
    if use_peepholes and given["bias"] is None:
        raise ValueError(f"{where}: bias: is missing; with peepholes their weights are the last 3 * D of it")
    return _check_shapes(where, x, given, count, 4, 7 if use_peepholes else 4)


def _check_shapes(
    where: str, x: Shape, given: dict[str, Any], count: int | None, gates: int, widths: int
) -> int | None:
    """Check the shapes of all operands; return the width of a state. Sizes of Specs may be None."""
    weight = given["weight"].shape
    columns = _columns(x, weight, gates)
    if len(weight) != 2 or (columns is not None and (columns % gates or not fits(weight, columns // gates, columns))):
        raise ShapeError(f"{where}: weight: has shape {weight}; (D, {gates} * D) is needed")
    width = None if columns is None else columns // gates
    if not fits(x, None, columns):
        raise ShapeError(
            f"{where}: x: has rows of shape {x[1:]}; ({columns},) is needed for a weight of shape {weight}"
        )
    bias = None if given["bias"] is None else given["bias"].shape
    length = None if width is None else widths * width
    if bias is not None and not (fits(bias, length) or fits(bias, 1, length)):
        raise ShapeError(f"{where}: bias: has shape {bias}; ({length},) or (1, {length}) is needed, {widths} * D")
    for name in ("h_0", "c_0"):
        boot = None if given.get(name) is None else given[name].shape
        if boot is not None and not fits(boot, count, width):
            needed = "number of sequences" if count is None else count
            raise ShapeError(f"{where}: {name}: has shape {boot}; ({needed}, {width}) is needed, one row per sequence")
    return width


def _columns(x: Shape, weight: Shape, gates: int) -> int | None:
    """Count the columns of a weight; if its Spec lacks them, derive them from its rows or the inputs."""
    if len(weight) == 2 and weight[1] is None:
        return x[1] if weight[0] is None and len(x) == 2 else None if weight[0] is None else weight[0] * gates
    return weight[1] if len(weight) == 2 else None


def dtype_of(where: str, x: np.dtype[Any], given: dict[str, Any]) -> np.dtype[Any]:
    """Return the dtype of the computation."""
    dtypes = [x, *[one.dtype for one in given.values() if one is not None]]
    if dtypes.count(SINGLE) == len(dtypes):
        return SINGLE
    try:
        dtype = np.result_type(*dtypes)
    except TypeError:
        dtype = np.dtype(object)
    if dtype not in (SINGLE, DOUBLE):
        names = ", ".join(["x", *[name for name, one in given.items() if one is not None]])
        raise DTypeError(f"{where}: {names}: have dtypes {', '.join(map(str, dtypes))}; float32 or float64 is needed")
    return DOUBLE if dtype == DOUBLE else SINGLE


def of_one_dtype(where: str, rows: Array, given: dict[str, Array | None]) -> tuple[Array, dict[str, Any]]:
    """Convert all operands to one dtype, C-contiguous."""
    dtype = dtype_of(where, rows.dtype, given)
    arrays = {name: None if one is None else _of_dtype(one, dtype) for name, one in given.items()}
    return _of_dtype(rows, dtype), arrays


def _of_dtype(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return an array C-contiguous with a dtype, converted if necessary."""
    return array if array.dtype == dtype and array.flags.c_contiguous else np.ascontiguousarray(array, dtype)


def cotangent_of(d: Array | None, dtype: np.dtype[Any]) -> Array | None:
    return None if d is None else np.ascontiguousarray(d, dtype)


def _shaped(where: str, d_bias: Array | None, bias: Any) -> Array | None:
    """Return the gradient of a bias in the shape of the bias, which is one of two."""
    return None if d_bias is None else d_bias.reshape(dense_of(f"{where}: bias", bias).shape)
