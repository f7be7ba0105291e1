"""An error at any step of a recording leaves every TensorArray, Variable and Program unchanged and usable.

    python -m tests.robustness.recordings --every 1 --names loop

An error is raised at each call of a Python function inside of a scenario, in a separate run. Afterwards nothing is
bound to the recording, no Block is open, arrays have their previous content (or all that the scenario writes, if the
error came after it), and the same scenario on the same objects returns the usual result.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import lodcore
from lodcore import LoD, LoDTensor, TensorArray, vjp
from lodcore.base.dispatch import open_block
from lodcore.graph import Executor, Program, VarArray, append_backward, data, map_fn, parameter, while_loop
from lodcore.operators.roles import spec_of

X = LoDTensor(np.arange(12.0).reshape(6, 2), LoD.from_lengths([2, 4]))
V = np.arange(6.0).reshape(3, 2)


class Injected(MemoryError):
    """The error that is raised."""


class World:
    """The objects that exist before a recording."""

    def __init__(self) -> None:
        self.two, self.empty = TensorArray(), TensorArray()
        self.two[0], self.two[1] = V[0], V[1]
        self.steps = TensorArray.unpack(X, 0)[0]
        self.slots = VarArray().segment(X)
        self.weight = parameter(np.ones((2, 2)), "w")
        with Program() as self.program:
            self.pooled = lodcore.sequence_pool(data("x", spec_of(X)) @ self.weight, "sum")
        self.executor = Executor()

    def arrays(self) -> list[TensorArray]:
        return [self.two, self.empty, self.steps, self.slots]

    def state(self) -> list[Any]:
        """List the contents of all arrays and Variables."""
        found: list[Any] = [
            [(at, told(one)) for at, one in [(-1, array.num_slots), *array.known_elements().items()]]
            for array in self.arrays()
        ]
        return [*found, told(self.weight.get()), told(X)]

    def check(self) -> None:
        """Check that nothing is bound to a Block, and that none is open."""
        assert open_block() is None
        assert self.weight.block is None
        assert all(array.block is None and array.variable is None for array in self.arrays())
        assert told(run_a_program(self)) == [[6.0, 6.0], [60.0, 60.0]]


def told(value: Any) -> Any:
    """Convert a result to a form that can be compared."""
    if isinstance(value, LoDTensor):
        return value.values.tolist()
    if isinstance(value, (list, tuple)):
        return [told(one) for one in value]
    return np.asarray(value).tolist()


# -- scenarios ---------------------------------------------------------------------------------------------------------


def write_under_vjp(world: World) -> Any:
    def f(a: Any) -> Any:
        world.two[2] = a[0]
        world.empty[0] = a * 2.0
        world.two.write(3, V[1])
        return lodcore.ops.sum(world.two.stack()) + lodcore.ops.sum(world.empty.stack())

    return vjp(f, V)[1](1.0)


def fill_under_vjp(world: World) -> Any:
    def f(a: Any) -> Any:
        steps, steps_map = world.empty.unpack(a, 0)
        return steps.pack(0, steps_map)

    return vjp(f, X)[1](X)


def loop_at_once(world: World) -> Any:
    loop = while_loop()
    with loop.loop():
        t = loop.step()
        loop.break_if(t >= 3)
        inner = TensorArray()
        inner[0] = world.two[0] * 1.0
        world.two.write(t + 2, inner[0])
        world.empty.write(t, world.steps.read(0))
    return world.two.stack()


def loop_in_a_loop(world: World) -> Any:
    loop = while_loop()
    with loop.loop():
        t = loop.step()
        loop.break_if(t >= 2)
        second = while_loop()
        with second.loop():
            u = second.step()
            second.break_if(u >= 2)
            world.two.write(u, world.two.read(u) + 1.0)
            world.empty.write(u, world.two.read(u))
    return world.empty.stack()


def loop_that_runs_later(world: World) -> Any:
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        t = loop.step()
        loop.break_if(t >= 3)
        world.two.write(t, V[1])
    loop()
    return world.two.stack()


def loop_under_vjp(world: World, recompute: bool = False) -> Any:
    def f(a: Any) -> Any:
        loop = while_loop(recompute=recompute)
        with loop.loop():
            t = loop.step()
            loop.break_if(t >= 3)
            state = loop.loop_var(a)
            state.update(lodcore.tanh(state) + world.two.read(0))
            world.empty.write(t, state)
        return lodcore.ops.sum(world.empty.stack())

    return vjp(f, V)[1](1.0)


def loop_computed_again(world: World) -> Any:
    return loop_under_vjp(world, recompute=True)


def slots(world: World) -> Any:
    def f(a: Any) -> Any:
        first = lodcore.sequence_pool(a, "last")
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= world.slots.size())
            state = loop.loop_var(first)
            new = lodcore.tanh(world.slots.get(t) + lodcore.shrink_memory(state, t, world.slots.rank))
            world.empty.write(t, new)
            state.update(new)
        return world.empty.pack(0, world.slots.rank)

    return vjp(f, X)[1](X)


def mapped(world: World) -> Any:
    return vjp(lambda a: map_fn(lambda row: lodcore.tanh(row) + world.two.read(0), a), V)[1](V)


def loop_in_a_program(world: World) -> Any:
    with Program() as program:
        given = data("v", spec_of(V))
        loop = while_loop()
        with loop.loop():
            t = loop.step()
            loop.break_if(t >= 3)
            state = loop.loop_var(given)
            state.update(lodcore.tanh(state) @ world.weight)
            world.two.write(t, state[0])
        loss = lodcore.ops.sum(state) + lodcore.ops.sum(world.two.stack())
        append_backward(loss)
    return Executor().run(program, {"v": V}, [loss, "w@GRAD"])


def arrays_in_a_program(world: World) -> Any:
    with Program() as program:
        given = data("v", spec_of(V))
        made = TensorArray()
        made[0], made[1] = given, given * 2.0
        world.two[0] = given[0]
        total = lodcore.ops.sum(made.stack()) + lodcore.ops.sum(world.two.stack())
    return Executor().run(program, {"v": V}, [total])


def run_a_program(world: World) -> Any:
    return world.executor.run(world.program, {"x": X}, [world.pooled])[0]


SCENARIOS = [
    *(write_under_vjp, fill_under_vjp, loop_at_once, loop_in_a_loop, loop_that_runs_later, loop_under_vjp),
    *(loop_computed_again, slots, mapped, loop_in_a_program, arrays_in_a_program, run_a_program),
]


# -- errors ------------------------------------------------------------------------------------------------------------


def interrupted(scenario: Callable[[World], Any], world: World, at: int) -> tuple[Any, bool, int]:
    """Run a scenario that raises at one of its calls; return its result, whether it raised, and its number of calls."""
    seen = 0

    def step(frame: Any, event: str, argument: Any) -> None:
        nonlocal seen
        if "lodcore" in frame.f_globals.get("__name__", "") or frame.f_globals is globals():
            seen += 1
            if seen == at:
                sys.settrace(None)
                raise Injected("injected")

    sys.settrace(step)
    try:
        return scenario(world), False, seen
    except Injected:
        return None, True, seen
    finally:
        sys.settrace(None)


def try_all(scenario: Callable[[World], Any], first: int, every: int) -> int:
    """Raise at each of some calls of a scenario, and check the state afterwards; return how often it raised."""
    world = World()
    before, wanted, whole = world.state(), told(scenario(world)), world.state()
    world.check()
    count, at = 0, first
    while True:
        world = World()
        result, raised, seen = interrupted(scenario, world, at)
        world.check()
        where = f"{scenario.__name__}, error at call {at}"
        if raised:
            left = world.state()
            assert left in (before, whole), f"{where}: something is half done"
            assert left != before or told(scenario(world)) == wanted, f"{where}: what follows is another"
        else:  # the end, or an error whose exception was discarded
            assert told(result) == wanted, where
        if seen < at:
            return count
        count, at = count + 1, at + every


def main() -> None:
    """Raise errors in all scenarios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--every", type=int, default=1, help="raise at one of so many calls")
    parser.add_argument("--names", default="", help="only scenarios whose names have this in them")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda unraisable: None  # errors in generators that are discarded
    chosen_ones = [scenario for scenario in SCENARIOS if chosen.names in scenario.__name__]
    count = sum([try_all(scenario, 1 + j % chosen.every, chosen.every) for j, scenario in enumerate(chosen_ones)])
    print(f"{count} errors in {len(chosen_ones)} scenarios; nothing is half done")


if __name__ == "__main__":
    main()
