"""Layers composed of layers: bidirectional and stacked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore.base.keywords import hinting
from lodcore.base.memory import flag
from lodcore.errors import DTypeError, ShapeError
from lodcore.nn.recurrent import Layer
from lodcore.operators.arguments import integer_of
from lodcore.ops import concat_values

__all__ = ["Bidirectional", "Stacked"]

MOST_LAYERS = 1000  # that are made from one


class _NoCellError(AttributeError, ValueError):
    """The error of a layer without a cell, an AttributeError for `hasattr`."""


@hinting
class Bidirectional(Layer):
    """A layer that runs over sequences in both directions, with separate parameters.

    Parameters
    ----------
    layer : layer
        The layer to run, for instance `LSTM(3, 4)`.

    Notes
    -----
    Its parameters are ``{"forward", "backward"}``, each with parameters of the layer. Outputs of both directions are
    joined along their width. A state is a pair, one of each direction; the last state of the backward direction is that
    at the first row. The layer has no cell, since an output also depends on later inputs.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> layer = lodcore.nn.Bidirectional(lodcore.nn.GRU(1, 2))
    >>> parameters = layer.init(np.random.default_rng(0))
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 1), np.float32), [2, 0, 1])
    >>> outputs, (last_forward, last_backward) = layer(parameters, x)
    >>> outputs.values.shape, bool((outputs[0][0, 2:] == last_backward[0]).all())
    ((3, 4), True)
    """

    __module__ = "lodcore.nn"

    def __init__(self, layer: Layer) -> None:
        if not isinstance(layer, Layer):
            raise DTypeError(f"Bidirectional: layer: is {type(layer).__name__}; a layer is needed")
        self.layer, self.n_in, self.n_out = layer, layer.n_in, 2 * layer.n_out

    def taking(self, n_in: int) -> Bidirectional:
        """Return a layer like this one that takes rows of another width."""
        return Bidirectional(self.layer.taking(n_in))

    def init(self, rng: np.random.Generator, dtype: Any = np.float32) -> Any:
        """Return random parameters."""
        return {"forward": self.layer.init(rng, dtype), "backward": self.layer.init(rng, dtype)}

    def initial_state(self, parameters: Any, n: Any) -> Any:
        """Return the states of n sequences before their first step, for both directions."""
        of = self._taken(parameters)
        return tuple(self.layer.initial_state(of[way], n) for way in ("forward", "backward"))

    def __call__(
        self, parameters: Any, x: Any, initial_state: Any = None, is_reverse: bool = False, level: int = -1
    ) -> tuple[Any, Any]:
        """Run over sequences; return outputs, and the last states of both directions."""
        of = self._taken(parameters)
        boots, back = _states("Bidirectional", initial_state, 2), flag("Bidirectional: is_reverse", is_reverse)
        forward, last_forward = self.layer(of["forward"], x, boots[0], back, level)
        backward, last_backward = self.layer(of["backward"], x, boots[1], not back, level)
        return concat_values([forward, backward], 1), (last_forward, last_backward)

    @property
    def cell(self) -> Any:
        """Raise an error, since an output also depends on later inputs."""
        raise _NoCellError("Bidirectional: cell: there is none; an output also depends on later inputs")

    def _taken(self, parameters: Any) -> Any:
        if not isinstance(parameters, dict) or not {"forward", "backward"} <= parameters.keys():
            found = list(parameters) if isinstance(parameters, dict) else type(parameters).__name__
            raise DTypeError(f"Bidirectional: parameters: is {found}; a dict of 'forward' and 'backward' is needed")
        return parameters

    def __repr__(self) -> str:
        return f"Bidirectional({self.layer!r})"


@hinting
class Stacked(Layer):
    """A stack of layers: the outputs of each are the inputs of the next.

    Parameters
    ----------
    layers : list of layers, or layer
        At least one; the input width of each must be the output width of the previous one. A single layer is stacked
        `num_layers` times; the copies take its output width as their input width.
    num_layers : int, optional
        The number of layers, 1 .. 1000, if a single layer is given.

    Notes
    -----
    Parameters and states are lists with one entry per layer.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore import nn
    >>> layer = nn.Stacked([nn.Bidirectional(nn.GRU(1, 2)), nn.LSTM(4, 3)])
    >>> parameters = layer.init(np.random.default_rng(0))
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 1), np.float32), [2, 0, 1])
    >>> outputs, last_state = layer(parameters, x)
    >>> outputs.values.shape, len(last_state)
    ((3, 3), 2)
    >>> nn.Stacked(nn.Bidirectional(nn.LSTM(3, 4)), num_layers=2)
    Stacked([Bidirectional(LSTM(3, 4)), Bidirectional(LSTM(8, 4))])
    """

    __module__ = "lodcore.nn"

    def __init__(self, layers: Sequence[Layer] | Layer, num_layers: int | None = None) -> None:
        if isinstance(layers, Layer):
            count = integer_of("Stacked: num_layers", 1 if num_layers is None else num_layers, 1, MOST_LAYERS)
            layers = [layers, *[layers.taking(layers.n_out) for _ in range(count - 1)]]
        elif num_layers is not None:
            raise ValueError(f"Stacked: num_layers: is {num_layers}; it goes with a single layer, not with a list")
        if not isinstance(layers, (list, tuple)):
            raise DTypeError(f"Stacked: layers: is {type(layers).__name__}; a list of layers is needed")
        self.layers: list[Layer] = list(layers)
        if not self.layers:
            raise ValueError("Stacked: layers: is empty; at least one layer is needed")
        for j, layer in enumerate(self.layers):
            if not isinstance(layer, Layer):
                raise DTypeError(f"Stacked: layers[{j}]: is {type(layer).__name__}; a layer is needed")
            if j and layer.n_in != self.layers[j - 1].n_out:
                raise ShapeError(
                    f"Stacked: layers[{j}]: takes rows of width {layer.n_in}; layers[{j - 1}] returns rows of width "
                    f"{self.layers[j - 1].n_out}"
                )
        self.n_in, self.n_out = self.layers[0].n_in, self.layers[-1].n_out

    def taking(self, n_in: int) -> Stacked:
        """Return a layer like this one that takes rows of another width."""
        return Stacked([self.layers[0].taking(n_in), *self.layers[1:]])

    def init(self, rng: np.random.Generator, dtype: Any = np.float32) -> Any:
        """Return a list of random parameters."""
        return [layer.init(rng, dtype) for layer in self.layers]

    def initial_state(self, parameters: Any, n: Any) -> Any:
        """Return a list of the states of n sequences before their first step, one entry per layer."""
        given = self._taken(parameters)
        return [layer.initial_state(of, n) for layer, of in zip(self.layers, given, strict=True)]

    def __call__(
        self, parameters: Any, x: Any, initial_state: Any = None, is_reverse: bool = False, level: int = -1
    ) -> tuple[Any, Any]:
        """Run over sequences; return outputs of the last layer, and a list of last states, one per layer."""
        boots, lasts = _states("Stacked", initial_state, len(self.layers)), []
        for layer, of, boot in zip(self.layers, self._taken(parameters), boots, strict=True):
            x, last = layer(of, x, boot, is_reverse, level)
            lasts.append(last)
        return x, lasts

    @property
    def cell(self) -> Any:
        """The cells of all layers as one, for `dynamic_rnn`."""
        for layer in self.layers:
            _ = layer.cell  # which raises if there is none
        return super().cell

    def prepare(self, parameters: Any) -> Any:
        """Compute the values that all steps of the cells share."""
        given = self._taken(parameters)
        return [layer.prepare(of) for layer, of in zip(self.layers, given, strict=True)]

    def pack(self, parameters: Any) -> Any:
        """Add packed weights, with which steps multiply fastest."""
        return [layer.pack(of) for layer, of in zip(self.layers, parameters, strict=True)]

    def step(self, parameters: Any, input: Any, state: Any) -> tuple[Any, Any]:
        """Compute one step of each layer."""
        following = []
        states = _states("Stacked", state, len(self.layers))
        for layer, of, before in zip(self.layers, parameters, states, strict=True):
            input, behind = layer.step(of, input, before)
            following.append(behind)
        return input, following

    def _taken(self, parameters: Any) -> Any:
        if not isinstance(parameters, (list, tuple)) or len(parameters) != len(self.layers):
            found = len(parameters) if isinstance(parameters, (list, tuple)) else type(parameters).__name__
            raise DTypeError(
                f"Stacked: parameters: is {found}; a list of {len(self.layers)} is needed, one for each layer"
            )
        return parameters

    def __repr__(self) -> str:
        return f"Stacked({self.layers!r})"


def _states(where: str, given: Any, count: int) -> Sequence[Any]:
    """Return the states of several layers; None means None for each."""
    if given is None:
        return [None] * count
    if not isinstance(given, (list, tuple)) or len(given) != count:
        found = f"{len(given)} entries" if isinstance(given, (list, tuple)) else type(given).__name__
        raise ValueError(f"{where}: initial_state: has {found}; {count} are needed")
    return given
