"""Warnings of NumPy name the line of the caller, once per place; settings of `numpy.errstate` apply."""

import inspect
import threading
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import Executor, LoDTensor, Program, data, ops, vjp, while_loop
from lodcore.base import caller
from lodcore.operators.roles import spec_of

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = lodcore.array([[1.0, -2.0], [], [0.0]])
HUGE = lodcore.array([[1e308, 1e308], [1e308]])
CALLS = {
    "operator": lambda: X / 0,
    "variance of all": lambda: lodcore.array([[np.inf, 1.0]]).var(),
    "variance of numbers": lambda: np.nanvar(lodcore.array([[np.inf, np.nan, 1.0]])),
    "reflected": lambda: 1 / X,
    "power": lambda: X**-1.0,
    "ufunc": lambda: np.log(X),
    "named": lambda: ops.sqrt(X),
    "of numbers": lambda: lodcore.log(np.zeros(2)),
    "aligned": lambda: HUGE * HUGE.per_sequence(HUGE.max(axis=1, empty=0)),
    "of lists": lambda: lodcore.ops.div([1.0], X * 0),
    "out": lambda: np.divide(X, 0, out=X.copy()),
    "dtype": lambda: np.divide(X, 0, dtype=np.float32),
    "two results": lambda: divmod(X, 0),
    "several results": lambda: np.modf(X * np.inf * 0),
    "all values": lambda: HUGE.sum(),
    "rows": lambda: LoDTensor.from_lengths([[1e308, 1e308]], [1]).sum(axis=2),
    "reduce": lambda: np.add.reduce(HUGE, axis=None),
    "NumPy's name": lambda: np.sum(HUGE),
    "mean of rows": lambda: LoDTensor.from_lengths([[1e308, 1e308]], [1]).mean(axis=2),
    "cast": lambda: (X / np.float64(1e-320)).astype(np.int8),
    "complex": lambda: (X + 1j).astype(float),
    "product": lambda: lodcore.matmul(np.full((1, 2), 1e308), np.full((2, 1), 10.0)),
    "clip": lambda: np.clip(np.log(X), 0, 1),
    "where": lambda: np.where(X > 0, np.log(X), 0),
    "softmax": lambda: lodcore.softmax(np.array([[np.inf, -np.inf]]) * 0),
    "isclose": lambda: np.isclose(X * np.inf, X),
}


def recorded(call, action="always"):
    """List the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        call()
    return caught


def assert_names(caught, call):
    """Check that there are warnings, all of which name a line of a function."""
    lines, first = inspect.getsourcelines(call)
    assert caught
    for one in caught:
        assert one.filename == __file__
        assert first <= one.lineno < first + len(lines)


@pytest.mark.parametrize("name", CALLS)
def test_the_line_of_the_caller_is_named(name):
    assert_names(recorded(CALLS[name]), CALLS[name])


def test_warnings_have_the_text_and_category_of_numpy():
    values = X.values
    for ours, numpys in (
        (lambda: X / 0, lambda: values / 0),
        (lambda: np.log(X), lambda: np.log(values)),
        (lambda: (X + 1j).astype(float), lambda: (values + 1j).astype(float)),
    ):
        found, wanted = ([(str(w.message), w.category) for w in recorded(call)] for call in (ours, numpys))
        assert sorted(map(str, found)) == sorted(map(str, wanted))


def test_repeated_warnings_at_one_line_appear_once():
    def calls():
        for _ in range(3):
            np.log(X - X)
            np.log(X * 0)

    caught = recorded(calls, "default")
    assert_names(caught, calls)
    assert len({one.lineno for one in caught}) == len(caught) == 2
    assert [str(one.message) for one in caught] == ["divide by zero encountered in log"] * 2


def test_programs_and_gradients_and_loops():
    def gradient():
        _, pullback = vjp(lambda x: np.log(x), X)
        pullback(np.ones(3))

    caught = recorded(gradient)
    assert_names(caught, gradient)
    assert len({one.lineno for one in caught}) == 2

    with Program() as program:
        y = np.log(data("x", spec_of(X))) / 0

    def run():
        Executor().run(program, {"x": X}, [y])

    caught = recorded(run)
    assert_names(caught, run)
    assert len({one.lineno for one in caught}) == 1

    def loop():
        step = while_loop()
        with step.loop():
            t = step.loop_var(0)
            x = step.loop_var(np.zeros(2))
            step.break_if(t >= 3)
            x.update(np.log(x))

    assert_names(recorded(loop), loop)


def test_errstate_decides_which_warnings_of_division_appear():
    one = lodcore.array([[1.0]])
    with np.errstate(all="ignore"):
        assert not recorded(lambda: one / 0)
        with np.errstate(divide="warn"):
            caught = recorded(lambda: one / 0)
            assert [str(one.message) for one in caught] == ["divide by zero encountered in divide"]
            assert caught[0].filename == __file__
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
        one / 0
    called = []
    with np.errstate(divide="call", call=lambda *given: called.append(given)):
        one / 0
    assert called == [("divide by zero", 1)]

    class Log:
        def write(self, message):
            called.append(message)

    with np.errstate(divide="log", call=Log()):
        one / 0
    assert called[1:] == ["Warning: divide by zero encountered in divide\n"]
    before = np.geterr(), np.geterrcall()
    for call in CALLS.values():
        recorded(call)
    assert (np.geterr(), np.geterrcall()) == before


def test_a_setting_is_restored_after_an_error():
    before = np.geterr(), np.geterrcall()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            X / 0
        with pytest.raises(RuntimeWarning, match="overflow"):
            HUGE.sum()
    with pytest.raises(TypeError):
        X + "text"
    assert (np.geterr(), np.geterrcall()) == before


def test_threads_name_their_own_lines():
    found = []

    def work():
        X / 0

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found += caught
    assert_names(found, work)


def test_an_operator_of_a_user_names_its_own_line():
    @ops.operator(x=ops.Nested)
    def inverse(x):
        return 1 / x.values

    assert_names(recorded(lambda: inverse(X)), inverse.__wrapped__)


def test_frames_without_a_name_outside():
    names = {"__name__": "lodcore.made_up", "warn": caller.warn}
    code = compile("def call():\n    warn('here')", "made_up.py", "exec")
    exec(code, names)
    caught = recorded(lambda: names["call"]())
    assert caught[0].filename == __file__


# -- without a warning -------------------------------------------------------------------------------------------------


def halves(*rows):
    return lodcore.array([list(row) for row in rows], np.float16)


def gradient_of(f, x):
    out, pullback = vjp(f, x)
    return pullback(np.ones_like(out.values if isinstance(out, LoDTensor) else out))


WIDE = lodcore.array([[3e38, -3e38]], np.float32)
ZERO_ONE = LoDTensor.from_lengths([[0.0, 1.0]], [1])
#: Infinities and nan that are the documented result, and results of kernels in a dtype that cannot hold them.
SILENT = {
    "softmax": lambda: lodcore.softmax(np.array([[np.inf, 1.0]])),
    "cross_entropy of float16": lambda: ops.cross_entropy(np.array([[np.inf, 0.0]], np.float16), [0]),
    "cross_entropy, smoothed": lambda: ops.cross_entropy([[np.inf, 0.0]], [0], label_smoothing=0.1),
    "variance": lambda: ops.sequence_var(WIDE),
    "deviation": lambda: ops.sequence_std(WIDE),
    "variance of float16": lambda: ops.sequence_var(halves([6e4, -6e4])),
    "derivative of a deviation": lambda: gradient_of(ops.sequence_std, lodcore.array([[2.0, 2.0], []])),
    "derivative of rolling": lambda: gradient_of(
        lambda x: ops.sequence_rolling(x, 2, "std"), lodcore.array([[2.0, 2.0, 3.0]])
    ),
    "derivative of a power": lambda: gradient_of(lambda x: x**-2.0, lodcore.array([[0.5]])),
    "accumulated": lambda: ops.sequence_accumulate(lodcore.array([[1e308, 1e308], [1.5e308, 1.5e308]]), np.hypot),
    **{
        name: lambda name=name: getattr(ops, name)(halves([6e4, 6e4, -6e4]), *MORE.get(name, ()))
        for name in ("sequence_pool", "sequence_cumsum", "sequence_diff", "sequence_prod", "sequence_rolling")
    },
    "embedding_bag": lambda: ops.embedding_bag(np.full((2, 1), 6e4, np.float16), [[0, 1]]),
    "beam_search": lambda: ops.beam_search(1, 0.5, None, ZERO_ONE, 1, 0, is_accumulated=False),
}
MORE = {"sequence_pool": ("sum",), "sequence_rolling": (2, "sum")}


@pytest.mark.parametrize("name", SILENT)
def test_documented_calls_do_not_warn(name):
    assert recorded(SILENT[name]) == []
