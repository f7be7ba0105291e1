"""Recurrent layers: their parameters, their cells, which compute one step, and their own calls, which are fused."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from lodcore.base.dispatch import recorder
from lodcore.base.dtypes import as_dtype
from lodcore.base.keywords import hinting
from lodcore.base.memory import flag
from lodcore.base.naming import call_named
from lodcore.errors import DTypeError, ShapeError
from lodcore.graph.variable import resolved
from lodcore.operators.arguments import choice_of, integer_of
from lodcore.operators.numbers import is_real
from lodcore.ops import add, elementwise, index_values, matmul, minus, mul, relu, reshape, sigmoid, tanh
from lodcore.ops.networks.gates import GateRule
from lodcore.ops.networks.lstm import LSTMWeights, PackedLSTM
from lodcore.ops.networks.recurrent_layers import gru_layer, lstm_layer, simple_layer
from lodcore.ops.networks.states import zero_states

__all__ = ["GRU", "LSTM", "SimpleRNN"]

ALL = slice(None)
ACTIVATIONS: dict[str, Any] = {"tanh": tanh, "sigmoid": sigmoid, "relu": relu, "identity": lambda x: x}


class Layer:
    """The base class of recurrent layers.

    Attributes
    ----------
    n_in, n_out : int
        The widths of the rows of input and output.
    """

    n_in: int
    n_out: int

    def taking(self, n_in: int) -> Layer:
        """Return a layer like this one that takes rows of another width."""
        made = copy.copy(self)
        made.n_in = n_in
        return made

    def init(self, rng: np.random.Generator, dtype: Any = np.float32) -> Any:
        """Return random parameters: a tree of ndarrays."""
        raise NotImplementedError

    def initial_state(self, parameters: Any, n: Any) -> Any:
        """Return the state of n sequences before their first step: zeros."""
        raise NotImplementedError

    def __call__(
        self, parameters: Any, x: Any, initial_state: Any = None, is_reverse: bool = False, level: int = -1
    ) -> tuple[Any, Any]:
        """Run over sequences.

        Parameters
        ----------
        parameters : tree
            As `init` returns them.
        x : LoDTensor or nested lists
            Rows of shape (n_in,).
        initial_state : tree, optional
            As `initial_state` returns it, which is the default.
        is_reverse : bool
            Whether to process each sequence from its last row to the first; outputs keep the order of the rows.
        level : int
            The level of the sequences; all rows below one are processed.

        Returns
        -------
        outputs : LoDTensor
            Has the LoD of x and rows of shape (n_out,).
        last_state : tree
            The state after each sequence, in the order of the batch; that of an empty one is its initial state.
        """
        raise NotImplementedError

    def prepare(self, parameters: Any) -> Any:
        """Compute the values that all steps of the cell share, and add them to the parameters."""
        return parameters

    def pack(self, parameters: Any) -> Any:
        """Add packed weights, if any, with which steps that are computed at once multiply fastest."""
        return parameters

    def step(self, parameters: Any, input: Any, state: Any) -> tuple[Any, Any]:
        """Compute one step with prepared parameters; return the output and the next state."""
        raise NotImplementedError

    @property
    def cell(self) -> Cell:
        """The cell of the layer, for `dynamic_rnn`."""
        return Cell(self)


class Cell:
    """The cell of a layer, which computes one step: `output, next_state = cell(parameters, input, state)`.

    If inputs are sequences, as in `dynamic_rnn` with a `level` that is not the last, a step processes all rows of a
    sequence.

    Parameters
    ----------
    layer : Layer
    """

    __slots__ = ("layer",)

    def __init__(self, layer: Layer) -> None:
        self.layer = layer

    def __call__(self, parameters: Any, input: Any, state: Any) -> tuple[Any, Any]:
        """Compute one step."""
        given = resolved(input)
        if getattr(given, "num_levels", 0):
            return self.layer(parameters, given, state, level=0)
        shape = given.shape if hasattr(given, "shape") else np.shape(given)
        if len(shape) != 2 or shape[1] not in (self.layer.n_in, None):
            name, needed = type(self.layer).__name__, (self.layer.n_in,)
            raise ShapeError(f"{name}: input: has rows of shape {shape[1:]}; {needed} is needed")
        return self.layer.step(self.layer.prepare(parameters), input, state)

    def prepare(self, parameters: Any) -> Any:
        """Return parameters with the values that all steps share; weights must not be changed meanwhile."""
        return self.layer.pack(self.layer.prepare(parameters))

    def initial_state(self, parameters: Any, n: Any) -> Any:
        """Return the state of n sequences before their first step."""
        return self.layer.initial_state(parameters, n)

    def __repr__(self) -> str:
        return f"<cell of {self.layer!r}>"


class _OneNetwork(Layer):
    """A layer with one network, whose parameters are a dict of matrices."""

    def __init__(self, n_in: int, n_hidden: int, **rest: Any) -> None:
        name = type(self).__name__
        self.n_in = integer_of(f"{name}: n_in", n_in, least=0)
        self.n_hidden = integer_of(f"{name}: n_hidden", n_hidden, least=0)
        self.n_out = self.n_hidden
        self._options = rest

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the parameters by name."""
        raise NotImplementedError

    def init(self, rng: np.random.Generator, dtype: Any = np.float32) -> dict[str, np.ndarray[Any, Any]]:
        """Return random parameters.

        Parameters
        ----------
        rng : numpy.random.Generator
        dtype : dtype_like
            float32 or float64.

        Returns
        -------
        dict of ndarray
            Matrices are uniform within sqrt(1 / n_rows) of zero; a bias is 0, that of a forget gate 1.
        """
        name = type(self).__name__
        made = as_dtype(f"{name}: init: dtype", dtype)
        if not isinstance(rng, np.random.Generator):
            raise DTypeError(f"{name}: init: rng: is {type(rng).__name__}; a numpy.random.Generator is needed")
        if made not in (np.float32, np.float64):
            raise DTypeError(f"{name}: init: dtype: is {made}; float32 or float64 is needed")
        found = {}
        for key, shape in self._shapes().items():
            bound = max(1, shape[0]) ** -0.5
            found[key] = rng.uniform(-bound, bound, shape).astype(made) if len(shape) > 1 else np.zeros(shape, made)
        return found

    init.__qualname__ = "init"  # that Python's own errors show, without the class

    def _taken(self, parameters: Any) -> dict[str, Any]:
        """Check that the parameters are those of this layer."""
        name = type(self).__name__
        if not isinstance(parameters, dict):
            raise DTypeError(
                f"{name}: parameters: is {type(parameters).__name__}; a dict like that of `init` is needed"
            )
        for key, shape in self._shapes().items():
            if key not in parameters:
                raise KeyError(f"{name}: parameters: has no {key!r}; an array of shape {shape} is needed")
            found = resolved(parameters[key])
            sizes = found.shape if hasattr(found, "shape") else np.shape(found)
            if sizes == shape:  # the usual case
                continue
            if len(sizes) != len(shape) or any(a not in (b, None) for a, b in zip(sizes, shape, strict=True)):
                raise ShapeError(f"{name}: parameters[{key!r}]: has shape {sizes}; {shape} is needed")
        return parameters

    def initial_state(self, parameters: Any, n: Any) -> Any:
        """Return the state of n sequences before their first step: zeros, shape (n, n_hidden)."""
        dtype = self._taken(parameters)["weight_h"].dtype
        return call_named(f"{type(self).__name__}.initial_state", zero_states, n, self.n_out, dtype)

    def __repr__(self) -> str:
        rest = "".join(f", {key}={value!r}" for key, value in self._options.items() if value not in (None, False))
        return f"{type(self).__name__}({self.n_in}, {self.n_hidden}{rest})"


@hinting
class SimpleRNN(_OneNetwork):
    """A network with one activation: `state = activation(x @ weight_x + state @ weight_h + bias)`.

    Parameters
    ----------
    n_in, n_hidden : int
    activation : str
        "tanh", "sigmoid", "relu" or "identity".

    Notes
    -----
    Its parameters are ``{"weight_x": (n_in, H), "weight_h": (H, H), "bias": (H,)}``, its state an array (n, H).

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.SimpleRNN(1, 2)
    >>> parameters = layer.init(np.random.default_rng(0))
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 1), np.float32), [2, 0, 1])
    >>> outputs, last_state = layer(parameters, x)
    >>> outputs.lengths, last_state.shape
    (array([2, 0, 1]), (3, 2))
    """

    __module__ = "lodcore.nn"

    def __init__(self, n_in: int, n_hidden: int, activation: str = "tanh") -> None:
        self.activation = choice_of("SimpleRNN: activation", activation, tuple(ACTIVATIONS))
        super().__init__(n_in, n_hidden, activation=activation)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        hidden = self.n_hidden
        return {"weight_x": (self.n_in, hidden), "weight_h": (hidden, hidden), "bias": (hidden,)}

    def __call__(
        self, parameters: Any, x: Any, initial_state: Any = None, is_reverse: bool = False, level: int = -1
    ) -> tuple[Any, Any]:
        """Run over sequences; return outputs, and the last state, shape (n, n_hidden)."""
        of = self._taken(parameters)
        weights = of["weight_x"], of["weight_h"], of["bias"]
        outputs, last = call_named(
            "SimpleRNN", simple_layer, x, *weights, initial_state, self.activation, is_reverse, level
        )
        return outputs, last

    def step(self, parameters: Any, input: Any, state: Any) -> tuple[Any, Any]:
        """Compute one step."""
        of = parameters
        total = add(add(matmul(input, of["weight_x"]), matmul(state, of["weight_h"])), of["bias"])
        made = ACTIVATIONS[self.activation](total)
        return made, made


@hinting
class LSTM(_OneNetwork):
    """An LSTM, optionally with peepholes, a projection of its state, and a bound on its cell.

    Parameters
    ----------
    n_in, n_hidden : int
    peepholes : bool
        Whether the gates depend on the cell: input and forget gate on the previous one, the output gate on the new one.
    projection : int, optional
        The width of the state and of the outputs, to which a matrix projects the output of the gates.
    clip : float, optional
        The bound of the cell, which is clipped to -clip .. clip.

    Notes
    -----
    Its parameters are ``{"weight_x": (n_in, 4H), "weight_h": (H, 4H), "bias": (4H,)}``, for candidate, input gate,
    forget gate and output gate in this order. With peepholes, the bias has shape (7H,), the last 3H for input, forget
    and output gate. With a projection to R, "weight_h" is (R, 4H), and there is ``"projection": (H, R)``. Its state is
    a pair of arrays: state (n, H), or (n, R), and cell (n, H).

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.LSTM(1, 2)
    >>> parameters = layer.init(np.random.default_rng(0))
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 1), np.float32), [2, 0, 1])
    >>> outputs, (last_state, last_cell) = layer(parameters, x)
    >>> outputs.lengths, last_state.shape, last_cell.shape
    (array([2, 0, 1]), (3, 2), (3, 2))
    """

    __module__ = "lodcore.nn"

    def __init__(
        self,
        n_in: int,
        n_hidden: int,
        peepholes: bool = False,
        projection: int | None = None,
        clip: float | None = None,
    ) -> None:
        self.peepholes, self.clip = flag("LSTM: peepholes", peepholes), clip
        super().__init__(n_in, n_hidden, peepholes=self.peepholes, projection=projection, clip=clip)
        if clip is not None and not (is_real(clip) and clip > 0):
            raise ValueError(f"LSTM: clip: is {clip!r}; a number above 0 is needed")
        self.projection = None if projection is None else integer_of("LSTM: projection", projection, least=1)
        if self.projection is not None:
            self.n_out = self.projection

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        hidden, widths = self.n_hidden, 7 if self.peepholes else 4
        shapes: dict[str, tuple[int, ...]] = {
            "weight_x": (self.n_in, 4 * hidden),
            "weight_h": (self.n_out, 4 * hidden),
            "bias": (widths * hidden,),
        }
        if self.projection is not None:
            shapes["projection"] = (hidden, self.projection)
        return shapes

    def init(self, rng: np.random.Generator, dtype: Any = np.float32) -> dict[str, np.ndarray[Any, Any]]:
        """Return random parameters; the bias of the forget gate is 1."""
        made = super().init(rng, dtype)
        made["bias"][2 * self.n_hidden : 3 * self.n_hidden] = 1
        return made

    def initial_state(self, parameters: Any, n: Any) -> Any:
        """Return state and cell of n sequences before their first step: zeros, shapes (n, n_out) and (n, n_hidden)."""
        dtype = self._taken(parameters)["weight_h"].dtype
        where = "LSTM.initial_state"
        return tuple(call_named(where, zero_states, n, width, dtype) for width in (self.n_out, self.n_hidden))

    def __call__(
        self, parameters: Any, x: Any, initial_state: Any = None, is_reverse: bool = False, level: int = -1
    ) -> tuple[Any, Any]:
        """Run over sequences; return outputs, and the last state and cell."""
        of = self._taken(parameters)
        h_0, c_0 = _pair_of_states(initial_state)
        weights = of["weight_x"], of["weight_h"], of["bias"], of.get("projection")
        rest = self.peepholes, self.clip, is_reverse, level
        outputs, last, last_cell = call_named("LSTM", lstm_layer, x, *weights, h_0, c_0, *rest)
        return outputs, (last, last_cell)

    def prepare(self, parameters: Any) -> Any:
        """Split a bias with peepholes into both parts."""
        if not self.peepholes or "peepholes" in parameters:
            return parameters
        bias, hidden = self._taken(parameters)["bias"], self.n_hidden
        parts = [index_values(bias, [slice(k * hidden, (k + 1) * hidden)]) for k in (4, 5, 6)]
        return {**parameters, "gate_bias": index_values(bias, [slice(4 * hidden)]), "peepholes": parts}

    def pack(self, parameters: Any) -> Any:
        """Pack weights that are plain arrays of one dtype."""
        of, names = parameters, ("weight_x", "weight_h", "bias", "projection")
        given = [of.get(name) for name in names]
        if "packed" in of or any(
            type(x) is not np.ndarray or x.dtype != given[0].dtype for x in given if x is not None
        ):
            return of
        if given[0].dtype not in (np.float32, np.float64):
            return of
        weight_x, weight_h, bias = (np.ascontiguousarray(x) for x in given[:3])
        projection = None if given[3] is None else np.ascontiguousarray(given[3])
        end, clip = 4 * self.n_hidden, np.inf if self.clip is None else float(self.clip)
        weights = LSTMWeights(weight_h, weight_x, bias[:end], bias[end:] if self.peepholes else None, projection)
        return {**of, "packed": PackedLSTM(weights, GateRule(clip=clip))}

    def step(self, parameters: Any, input: Any, state: Any) -> tuple[Any, Any]:
        """Compute one step."""
        of, (before, cell), hidden = parameters, _pair_of_states(state), self.n_hidden
        if "packed" in of and recorder((input,)) is None:
            arrays = of["packed"].taken(input, before, cell)
            if arrays is not None:
                made, cell = of["packed"].step(*arrays)
                return made, (made, cell)
        bias = of["gate_bias"] if self.peepholes else of["bias"]
        gates = add(add(matmul(input, of["weight_x"]), matmul(before, of["weight_h"])), bias)
        u, i, f, o = (_columns(gates, k * hidden, hidden) for k in range(4))
        if self.peepholes:
            i, f = add(i, mul(cell, of["peepholes"][0])), add(f, mul(cell, of["peepholes"][1]))
        cell = add(mul(sigmoid(f), cell), mul(sigmoid(i), tanh(u)))
        if self.clip is not None:
            cell = elementwise([elementwise([cell, self.clip], np.minimum), -self.clip], np.maximum)
        if self.peepholes:
            o = add(o, mul(cell, of["peepholes"][2]))
        made = mul(sigmoid(o), tanh(cell))
        if self.projection is not None:
            made = matmul(made, of["projection"])
        return made, (made, cell)


def _pair_of_states(given: Any) -> tuple[Any, Any]:
    """Return the state of an LSTM: a pair, or two times None."""
    if given is None:
        return None, None
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(f"LSTM: initial_state: is {type(given).__name__}; a pair (state, cell) is needed")
    return given[0], given[1]


@hinting
class GRU(_OneNetwork):
    """A GRU.

    Parameters
    ----------
    n_in, n_hidden : int
    origin_mode : bool
        Whether the new state is u * before + (1 - u) * n; otherwise it is (1 - u) * before + u * n.

    Notes
    -----
    Its parameters are ``{"weight_x": (n_in, 3H), "weight_h": (H, 3H), "bias": (3H,)}``, for update gate, reset gate and
    candidate in this order; "weight_h" is a buffer, as in `dynamic_gru`. Its state is an array (n, H).

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.GRU(1, 2)
    >>> parameters = layer.init(np.random.default_rng(0))
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 1), np.float32), [2, 0, 1])
    >>> outputs, last_state = layer(parameters, x)
    >>> outputs.lengths, last_state.shape
    (array([2, 0, 1]), (3, 2))
    """

    __module__ = "lodcore.nn"

    def __init__(self, n_in: int, n_hidden: int, origin_mode: bool = False) -> None:
        self.origin_mode = flag("GRU: origin_mode", origin_mode)
        super().__init__(n_in, n_hidden, origin_mode=self.origin_mode)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        hidden = self.n_hidden
        return {"weight_x": (self.n_in, 3 * hidden), "weight_h": (hidden, 3 * hidden), "bias": (3 * hidden,)}

    def __call__(
        self, parameters: Any, x: Any, initial_state: Any = None, is_reverse: bool = False, level: int = -1
    ) -> tuple[Any, Any]:
        """Run over sequences; return outputs, and the last state, shape (n, n_hidden)."""
        of = self._taken(parameters)
        weights = of["weight_x"], of["weight_h"], of["bias"]
        outputs, last = call_named("GRU", gru_layer, x, *weights, initial_state, self.origin_mode, is_reverse, level)
        return outputs, last

    def prepare(self, parameters: Any) -> Any:
        """Split the buffer of "weight_h" into the matrices of the gates and of the candidate."""
        if "weight_gates" in parameters:
            return parameters
        hidden, weight = self.n_hidden, self._taken(parameters)["weight_h"]
        cut = 2 * hidden * hidden
        flat = reshape(weight, [3 * hidden * hidden])
        both = reshape(index_values(flat, [slice(None, cut)]), [hidden, 2 * hidden])
        last = reshape(index_values(flat, [slice(cut, None)]), [hidden, hidden])
        return {**parameters, "weight_gates": both, "weight_candidate": last}

    def step(self, parameters: Any, input: Any, state: Any) -> tuple[Any, Any]:
        """Compute one step."""
        of, hidden = parameters, self.n_hidden
        given = add(matmul(input, of["weight_x"]), of["bias"])
        both = sigmoid(add(_columns(given, 0, 2 * hidden), matmul(state, of["weight_gates"])))
        update, reset = _columns(both, 0, hidden), _columns(both, hidden, hidden)
        kept = matmul(mul(reset, state), of["weight_candidate"])
        new = tanh(add(_columns(given, 2 * hidden, hidden), kept))
        old, other = (new, state) if self.origin_mode else (state, new)
        made = add(mul(minus(1, update), old), mul(update, other))
        return made, made


def _columns(x: Any, start: int, count: int) -> Any:
    return index_values(x, [ALL, slice(start, start + count)])
