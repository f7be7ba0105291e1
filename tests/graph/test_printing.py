"""The text of a Program: loops with their options, and results under the names of their variables."""

import re

import numpy as np
import pytest

import lodcore
from lodcore import TensorArray
from lodcore.graph import Executor, Program, data, parameter, while_loop

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([1.0, -2.0, 0.5])


def recorded(**options):
    with Program() as program:
        x = data("x", (None,), "float64")
        loop = while_loop(**options)
        with loop.loop():
            time = loop.loop_var(0)
            total = loop.loop_var(x)
            loop.break_if(time >= 3)
            total.update(lodcore.mul(total, x))
        doubled = lodcore.add(total, total)
    return program, loop, (time, total), doubled


def line_of(program, word):
    return next(line for line in str(program).splitlines() if re.search(rf"\b{word}\b", line))


@pytest.mark.parametrize(
    ("options", "shown", "hidden"),
    [
        ({}, [], ["recompute", "max_steps"]),
        ({"recompute": True}, ["recompute"], ["max_steps"]),
        ({"max_steps": 7}, ["max_steps=7"], ["recompute"]),
        ({"max_steps": 0, "recompute": True}, ["max_steps=0", "recompute"], []),
    ],
)
def test_options_of_a_loop_are_shown(options, shown, hidden):
    line = line_of(recorded(**options)[0], "while_loop")
    assert all(word in line for word in shown)
    assert not any(word in line for word in hidden)


def test_results_of_a_loop_have_the_names_of_their_variables():
    """As printed, as queried by `name`, and as fetched."""
    program, loop, (time, total), doubled = recorded()
    line = line_of(program, "while_loop")
    results = [name.strip() for name in line.split("=")[0].split(",")]
    assert results == [time.name, total.name]
    assert line_of(program, "add").strip().startswith(f"{doubled.name} = add(x={total.name}, y={total.name})")
    found = Executor().run(program, {"x": X}, [time.name, total.name, doubled])
    assert int(found[0]) == 3
    np.testing.assert_array_equal(found[1], X**4)
    np.testing.assert_array_equal(found[2], 2 * X**4)
    assert [v.name for v in loop.variables] == results


def test_results_of_loops_of_equal_variables_have_names_of_their_own():
    with Program() as program:
        x = data("x", (None,), "float64")
        lasts = []
        for steps in (1, 2):
            loop = while_loop()
            with loop.loop():
                total = loop.loop_var(x)
                loop.break_if(loop.step() >= steps)
                total.update(total * x)
            lasts.append(total)
    names = [v.name for v in lasts]
    assert len({*names, "x"}) == 3
    for name, power in zip(names, (2, 3), strict=True):
        np.testing.assert_array_equal(Executor().run(program, {"x": X}, [name])[0], X**power)


def whole():
    """Record a loop with a counter, a carried value, a captured one and an update."""
    with Program() as program:
        x = data("x", (None,), "float64")
        w = parameter(np.array([2.0]), "w")
        loop = while_loop(max_steps=5)
        with loop.loop():
            total = loop.loop_var(x)
            loop.break_if(loop.step() >= 2)
            total.update(lodcore.mul(total, w))
        lodcore.add(total, w, name="last")
    return program


def test_str_of_a_program_is_its_whole_text():
    assert str(whole()).splitlines() == [
        "program:",
        "    data x: float64 (.,)",
        "    parameter w: float64 (1,)",
        "    x_1, step = while_loop(max_steps=5):",
        "        loop x_1 = x  # float64 (.,)",
        "        loop step = 0, +1  # int64 ()",
        "        outer w_1 = w  # float64 (.,)",
        "        greater_equal_than = greater_equal_than(x=step, y=2)  # bool ()",
        "        break_if(greater_equal_than)",
        "        mul = mul(x=x_1, y=w_1)  # float64 (.,)",
        "        x_1.update(mul)",
        "    last = add(x=x_1, y=w)  # float64 (.,)",
    ]
    assert repr(whole()) == "<Program of 2 operators>"


def test_to_dot_of_a_program_is_its_whole_picture():
    assert whole().to_dot().splitlines() == [
        "digraph program {",
        "    node [fontname=sans];",
        '    n0 [label="x: float64 (.,)"];',
        '    n1 [shape=box, label="while_loop"];',
        '    n2 [label="w: float64 (1,)"];',
        "    n0 -> n1;",
        "    n2 -> n1;",
        '    n3 [label="x_1: float64 (.,)"];',
        '    n4 [label="step: int64 ()"];',
        "    n1 -> n3;",
        "    n1 -> n4;",
        "    subgraph cluster_n1 {",
        '        label="body of while_loop";',
        '        n5 [shape=box, label="greater_equal_than"];',
        '        n6 [label="step: int64 ()"];',
        "        n6 -> n5;",
        '        n7 [label="greater_equal_than: bool ()"];',
        "        n5 -> n7;",
        '        n8 [shape=box, label="break_if"];',
        "        n7 -> n8;",
        '        n9 [shape=box, label="mul"];',
        '        n10 [label="x_1: float64 (.,)"];',
        '        n11 [label="w_1: float64 (.,)"];',
        "        n10 -> n9;",
        "        n11 -> n9;",
        '        n12 [label="mul: float64 (.,)"];',
        "        n9 -> n12;",
        '        n13 [shape=box, label="update"];',
        "        n12 -> n13;",
        "        n13 -> n10;",
        "    }",
        "    n0 -> n10 [style=dashed];",
        "    n2 -> n11 [style=dashed];",
        '    n14 [shape=box, label="add"];',
        "    n3 -> n14;",
        "    n2 -> n14;",
        '    n15 [label="last: float64 (.,)"];',
        "    n14 -> n15;",
        "}",
    ]


def test_repr_of_a_tensor_array_says_whether_it_is_recorded():
    array = TensorArray()
    assert repr(array) == "TensorArray(empty)"
    with Program():
        array = TensorArray()
        array.write(data("i", (), "int64"), data("x", (2,), "float64"))
        assert repr(array) == f"TensorArray({array.name}, recorded)"
