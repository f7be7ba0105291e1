"""Optimizers: functions from parameters, gradients and a state to the next parameters and the next state."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.keywords import hinting
from lodcore.base.memory import flag
from lodcore.base.recycling import Recycled
from lodcore.errors import DTypeError
from lodcore.graph.names import Unnamed
from lodcore.graph.trees import copy_of_tree, tree_leaves
from lodcore.graph.variable import Variable
from lodcore.nn.plain_updates import plain, updated
from lodcore.nn.recorded_steps import record_step
from lodcore.nn.updates import Call, Calls, check, in_form_of, leaves_of, refuse_twice, updated_leaves
from lodcore.operators.numbers import number_of

__all__ = ["SGD", "Adam", "AdamW"]

Array = np.ndarray[Any, Any]
Rate = float | Callable[[int], float]


class Optimizer:
    """The base class of optimizers, whose state is a number of steps and trees with the form of the parameters.

    Parameters
    ----------
    learning_rate : float or callable
        A number of 0 or more, or a function from the number of steps taken so far to the rate of the next one.
    weight_decay : float
    """

    kept: tuple[str, ...] = ()  # the trees of the state

    def __init__(self, learning_rate: Rate, weight_decay: float) -> None:
        self._where = type(self).__name__
        if not callable(learning_rate):
            learning_rate = number_of(f"{self._where}: learning_rate", learning_rate, 0)
        self.learning_rate = learning_rate
        self.weight_decay = number_of(f"{self._where}: weight_decay", weight_decay, 0)

    def init(self, parameters: Any) -> dict[str, Any]:
        """Return the state before the first step.

        Parameters
        ----------
        parameters : tree
            Dicts, lists, tuples, named tuples and dataclasses of float32 and float64 ndarrays and numbers, or of
            Variables that hold them; other leaves have no gradient and are kept.

        Returns
        -------
        dict
            "step", the number of steps taken, and trees with the form of the parameters. `lodcore.save` saves it. For
            Variables it consists of Variables, too.
        """
        parameters = copy_of_tree(parameters)
        leaves = leaves_of(f"{self._where}.init", parameters, None, {})
        zeros = [[leaf.zeros(name) for leaf in leaves] for name in self.kept]
        recorded = any(isinstance(leaf.value, Variable) for leaf in leaves)
        step = Variable(Unnamed("step"), np.array(0)) if recorded else 0
        return {
            "step": step,
            **{name: in_form_of(parameters, made) for name, made in zip(self.kept, zeros, strict=True)},
        }

    def step(
        self, parameters: Any, gradients: Any, state: dict[str, Any] | None = None, in_place: bool = False
    ) -> tuple[Any, dict[str, Any]]:
        """Compute the next parameters and the next state; for Variables, record their updates in the Program.

        Parameters
        ----------
        parameters : tree
        gradients : tree
            A tree of the same form, as `value_and_grad` and `append_backward` return it: ndarrays, SparseTensors, and
            None for parameters without a gradient, which are kept; for Variables, Variables of the Program.
        state : dict
            The result of `init` or of the previous step. For Variables, a new one by default.
        in_place : bool
            Whether to overwrite the arrays of `parameters` and `state`. By default, new arrays are made. For Variables
            it has no effect: their values change when a run ends.

        Returns
        -------
        parameters, state
            Trees of the same form; those Variables themselves.

        Raises
        ------
        ValueError, ShapeError, DTypeError
            If the trees have different forms (the message names the place), a gradient has a different shape from its
            parameter, or, with `in_place`, an array is twice among the parameters.
        GraphError
            If Variables are given, and no Program is there to record the updates.
        """
        where = f"{self._where}.step"
        in_place = flag(f"{where}: in_place", in_place)
        if in_place:
            refuse_twice(where, parameters, gradients)
        known = isinstance(state, dict) and state.keys() == {"step", *self.kept} and type(state["step"]) is int
        if known and state is not None:
            arrays = plain([parameters, gradients, *[state[name] for name in self.kept]], in_place)
            if arrays is not None and arrays.rows:  # the usual case, with nothing to check or to convert
                calls = Calls(self.kernel, self.numbers(where, state["step"]))
                with Recycled():
                    trees = updated(arrays, calls, in_place)
                return trees[0], {"step": state["step"] + 1, **dict(zip(self.kept, trees[1:], strict=True))}
        form = copy_of_tree(parameters)
        if any(isinstance(x, Variable) for x in tree_leaves(form)):
            return parameters, record_step(where, self, form, gradients, state)
        if state is None or not known:
            raise DTypeError(f"{where}: state: is {_described(state)}; what `init` returns is needed")
        return self._general_step(where, parameters, form, gradients, state, in_place)

    def _general_step(
        self, where: str, parameters: Any, form: Any, gradients: Any, state: dict[str, Any], in_place: bool
    ) -> tuple[Any, dict[str, Any]]:
        """Compute the next parameters and state where something is to be checked or converted."""
        numbers = self.numbers(where, state["step"])
        leaves = leaves_of(where, form, gradients, {name: state[name] for name in self.kept})
        for leaf in leaves:
            check(leaf, in_place)
        with Recycled():
            made = updated_leaves(leaves, self.kernel, numbers, in_place)
        trees = [in_form_of(form, column) for column in zip(*made, strict=True)]
        if not trees:
            trees = [parameters, *[state[name] for name in self.kept]]
        return trees[0], {"step": state["step"] + 1, **dict(zip(self.kept, trees[1:], strict=True))}

    def numbers(self, where: str, step: int) -> tuple[float, ...]:
        """Return the numbers that the kernel needs in a step, from the number of steps taken so far."""
        if step < 0:
            raise ValueError(f"{where}: state: has step {step}; 0 or more is needed")
        rate = self.learning_rate(step) if callable(self.learning_rate) else self.learning_rate
        return self._coefficients(number_of(f"{where}: learning_rate", rate, 0), step + 1)

    def _coefficients(self, rate: float, step: int) -> tuple[float, ...]:
        """Return the numbers that the kernel needs, from the learning rate and the step, counted from 1."""
        raise NotImplementedError

    def kernel(self, arrays: list[Array], numbers: tuple[float, ...], outs: list[Array]) -> Call:
        """Return the call that computes on arrays of one axis: parameter, gradient, and the entries of the state."""
        raise NotImplementedError


def _described(state: Any) -> str:
    if isinstance(state, dict):
        return f"a dict of {', '.join(map(str, state))}" if state else "an empty dict"
    return type(state).__name__


@hinting
class SGD(Optimizer):
    """Gradient descent with momentum.

    Parameters
    ----------
    learning_rate : float or callable
        A number of 0 or more, or a function from the number of steps taken so far to the rate of the next one.
    momentum : float
        The factor by which the speed is multiplied in each step, 0 .. 1; 0 disables momentum.
    weight_decay : float
        Multiplied by the parameter and added to the gradient.

    Raises
    ------
    DTypeError, ValueError
        If a setting is not a number, or out of bounds.

    Notes
    -----
    ::

        speed = momentum * speed + (gradient + weight_decay * parameter)
        parameter = parameter - learning_rate * speed

    For a SparseTensor, only its rows are updated, each once with the sum of its gradients; all others keep parameter
    and speed, and do not decay.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> optimizer = lodcore.nn.SGD(0.5)
    >>> parameters = {"weight": np.array([1.0, 2.0])}
    >>> state = optimizer.init(parameters)
    >>> parameters, state = optimizer.step(parameters, {"weight": np.array([1.0, -1.0])}, state)
    >>> parameters, state
    ({'weight': array([0.5, 2.5])}, {'step': 1})
    """

    __module__ = "lodcore.nn"

    def __init__(self, learning_rate: Rate, momentum: float = 0.0, weight_decay: float = 0.0) -> None:
        super().__init__(learning_rate, weight_decay)
        self.momentum = number_of("SGD: momentum", momentum, 0, 1)
        self.kept = ("speed",) if self.momentum else ()

    def _coefficients(self, rate: float, step: int) -> tuple[float, ...]:
        return rate, self.momentum, self.weight_decay

    def kernel(self, arrays: list[Array], numbers: tuple[float, ...], outs: list[Array]) -> Call:
        """Return the call that computes on arrays of one axis."""
        x, d, speed = arrays if self.kept else (*arrays, arrays[0][:0])
        out, out_speed = outs if self.kept else (*outs, outs[0][:0])
        rate, momentum, decay = numbers
        return partial(kernels.optimizers.sgd_step, x, d, speed, rate, momentum, decay, out, out_speed)

    def __repr__(self) -> str:
        return f"SGD({self.learning_rate}, momentum={self.momentum:g}, weight_decay={self.weight_decay:g})"


@hinting
class Adam(Optimizer):
    """Adam: steps of the mean of the gradient divided by the root of the mean of its square.

    Parameters
    ----------
    learning_rate : float or callable
        A number of 0 or more, or a function from the number of steps taken so far to the rate of the next one.
    betas : tuple of float
        The decay rates of both means, each 0 or more and below 1.
    eps : float
        Added to the root in the divisor.
    weight_decay : float
        Times the learning rate, this is the fraction of a parameter that is subtracted in each step, independently of
        its gradient: the decoupled decay of AdamW.

    Raises
    ------
    DTypeError, ValueError
        If a setting is not a number, or out of bounds.

    Notes
    -----
    In step t, counted from 1::

        mean = beta_1 * mean + (1 - beta_1) * gradient
        square = beta_2 * square + (1 - beta_2) * gradient**2
        parameter = (1 - learning_rate * weight_decay) * parameter
        parameter = parameter - learning_rate * (mean / (1 - beta_1**t)) / (sqrt(square / (1 - beta_2**t)) + eps)

    For a SparseTensor, only its rows are updated, each once with the sum of its gradients; all others keep parameter
    and means, and do not decay. The bias correction uses the number of all steps.

    References
    ----------
    D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.

    I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", ICLR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> optimizer = lodcore.nn.Adam(0.5)
    >>> parameters = [np.array([1.0, 2.0])]
    >>> state = optimizer.init(parameters)
    >>> parameters, state = optimizer.step(parameters, [np.array([3.0, -0.1])], state)
    >>> parameters[0].round(6), state["step"]
    (array([0.5, 2.5]), 1)
    """

    __module__ = "lodcore.nn"

    kept = ("mean", "square")

    def __init__(
        self,
        learning_rate: Rate,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, weight_decay)
        name = self._where
        if not isinstance(betas, (tuple, list)) or len(betas) != 2:
            raise DTypeError(f"{name}: betas: is {betas!r}; two numbers are needed")
        below = math.nextafter(1, 0)
        self.betas = (
            number_of(f"{name}: betas[0]", betas[0], 0, below),
            number_of(f"{name}: betas[1]", betas[1], 0, below),
        )
        self.eps = number_of(f"{name}: eps", eps, 0)

    def _coefficients(self, rate: float, step: int) -> tuple[float, ...]:
        beta, other = self.betas
        root = 1 / math.sqrt(1 - other**step)
        return rate / (1 - beta**step), beta, other, self.eps, 1 - rate * self.weight_decay, root

    def kernel(self, arrays: list[Array], numbers: tuple[float, ...], outs: list[Array]) -> Call:
        """Return the call that computes on arrays of one axis."""
        x, d, mean, square = arrays
        out, out_mean, out_square = outs
        rate, beta, other, eps, kept, root = numbers
        step = kernels.optimizers.adam_step
        return partial(step, x, d, mean, square, rate, beta, other, eps, kept, root, out, out_mean, out_square)

    def __repr__(self) -> str:
        settings = f"betas={self.betas}, eps={self.eps:g}, weight_decay={self.weight_decay:g}"
        return f"{self._where}({self.learning_rate}, {settings})"


@hinting
class AdamW(Adam):
    """Adam with weight decay by default, equal to `Adam` with the same `weight_decay`.

    Parameters
    ----------
    learning_rate : float or callable
    betas : tuple of float
    eps : float
    weight_decay : float
        As in `Adam`.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> optimizer = lodcore.nn.AdamW(0.5, weight_decay=0.1)
    >>> state = optimizer.init(np.array([1.0]))
    >>> optimizer.step(np.array([1.0]), np.array([3.0]), state)[0].round(6)
    array([0.45])
    """

    __module__ = "lodcore.nn"

    def __init__(
        self,
        learning_rate: Rate,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(learning_rate, betas, eps, weight_decay)
