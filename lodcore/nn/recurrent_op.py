"""The three recurrent networks of "Design for TensorArray", implemented with TensorArray."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.naming import call_named
from lodcore.errors import ShapeError
from lodcore.graph import tree_leaves, tree_map, vjp
from lodcore.graph.gradients.autodiff import Pullback
from lodcore.nn.dynamic_rnn import CellFunction, run_over_sequences, run_steps, state_of_cell, take_inputs
from lodcore.ops import tensor_array_stack, tensor_array_unstack

__all__ = ["RecurrentGradientMachine", "dynamic_recurrent_op", "recurrent_op"]


def recurrent_op(cell: CellFunction, parameters: Any, x: Any, initial_state: Any = None) -> tuple[Any, Any]:
    """Run a cell over the first axis of dense tensors: steps of equally many rows.

    Parameters
    ----------
    cell : callable
        `output, next_state = cell(parameters, input, state)`.
    parameters : tree
    x : ndarray, or tree of ndarray, shape (n_steps, n, ...)
    initial_state : tree, optional
        By default `cell.initial_state(parameters, n)`.

    Returns
    -------
    outputs : tree of ndarray, shape (n_steps, ...)
    last_state : tree

    References
    ----------
    "Design for TensorArray" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore import nn
    >>> x = np.array([[1.0, 10.0], [2.0, 20.0]])
    >>> outputs, last = nn.recurrent_op(lambda parameters, x, total: (total + x, total + x), None, x, np.zeros(2))
    >>> outputs.tolist(), last.tolist()
    ([[1.0, 10.0], [3.0, 30.0]], [3.0, 30.0])
    """
    sizes = [np.shape(one)[:1] for one in tree_leaves(x)]
    for j, size in enumerate(sizes):
        if None not in (*size, *sizes[0]) and size != sizes[0]:
            raise ShapeError(f"recurrent_op: x[{j}]: has {size[0]} steps; x[0] has {sizes[0][0]}")
    steps = tree_map(lambda one: call_named("recurrent_op", tensor_array_unstack, one), x)
    if initial_state is None:
        shape = tree_leaves(x)[0].shape
        if len(shape) < 2:
            raise ShapeError(
                f"recurrent_op: x: has shape {shape}; (n_steps, n, ...) is needed to make an initial state"
            )
        initial_state = state_of_cell("recurrent_op", cell, parameters, shape[1])
    outputs, _, last_state = run_steps("recurrent_op", cell, parameters, steps, initial_state)
    return tree_map(tensor_array_stack, outputs), last_state


def dynamic_recurrent_op(
    cell: CellFunction, parameters: Any, x: Any, initial_state: Any = None, level: int = 0
) -> tuple[Any, Any]:
    """Run a cell over sequences: like `recurrent_op`, but with shrinking steps made by `unpack` and joined by `pack`.

    Parameters
    ----------
    cell, parameters, x, initial_state
        As in `dynamic_rnn`.
    level : int
        As in `dynamic_rnn`, but by default the first one: for sequences of sequences, the steps are the inner ones.

    Returns
    -------
    outputs, last_state
        As in `dynamic_rnn`.

    References
    ----------
    "Design for TensorArray" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [4.0]])
    >>> running_sum = lambda parameters, x, total: (total + x, total + x)
    >>> lodcore.nn.dynamic_recurrent_op(running_sum, None, x, np.zeros(3))
    (LoDTensor(3 sequences of lengths 0..2, float64: [[1., 3.], [], [4.]]), array([3., 0., 4.]))
    """
    return run_over_sequences("dynamic_recurrent_op", cell, parameters, x, initial_state, level, False)


class RecurrentGradientMachine:
    """A recurrent network with separate calls of the forward and the backward pass.

    Parameters
    ----------
    cell : callable
        `output, next_state = cell(parameters, input, state)`.
    level : int
        The level of the sequences, by default the first one: for sequences of sequences, the steps are the inner ones.

    References
    ----------
    "Design for TensorArray" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [4.0]])
    >>> machine = lodcore.nn.RecurrentGradientMachine(lambda weight, x, total: (total + weight * x, total + weight * x))
    >>> machine.forward(np.array(2.0), x, np.zeros(3))[1]
    array([6., 0., 8.])
    >>> d_weight, d_x, d_state = machine.backward(None, np.ones(3))
    >>> d_weight, d_x, d_state
    (array(7.), LoDTensor(3 sequences of lengths 0..2, float64: [[2., 2.], [], [2.]]), array([1., 1., 1.]))
    """

    __module__ = "lodcore.nn"

    def __init__(self, cell: CellFunction, level: int = 0) -> None:
        self.cell = cell
        self.level = level
        self._pullback: Pullback[Any] | None = None

    def forward(self, parameters: Any, x: Any, initial_state: Any = None) -> tuple[Any, Any]:
        """Run the cell as `dynamic_rnn` does, and store what the backward pass needs."""
        where = "RecurrentGradientMachine"

        def run(parameters: Any, x: Any, initial_state: Any) -> tuple[Any, Any]:
            return run_over_sequences(where, self.cell, parameters, x, initial_state, self.level, False)

        found, self._pullback = vjp(run, parameters, take_inputs(f"{where}: x", x, []), initial_state)
        outputs, last_state = found
        return outputs, last_state

    def backward(self, d_outputs: Any, d_last_state: Any = None) -> tuple[Any, Any, Any]:
        """Return the gradients of parameters, x and initial state, from the cotangents of what `forward` returned."""
        if self._pullback is None:
            raise ValueError("RecurrentGradientMachine: backward: has no forward pass; call forward first")
        d_parameters, d_x, d_state = self._pullback(d_outputs, d_last_state)
        return d_parameters, d_x, d_state
