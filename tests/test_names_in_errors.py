"""Errors begin with the name of the public function that was called, not with those that it calls."""

import re
import warnings

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, SparseTensor, TensorArray, batching, graph, interop, nn, ops, testing
from lodcore.graph import Program, data, vjp
from lodcore.operators.registry import OPS
from lodcore.ops import Nested, operator
from tests.helpers import public_calls
from tests.helpers.tables import for_each
from tests.samples import SAMPLES

pytestmark = pytest.mark.not_on_reference

T = lodcore.array([[1.0, 2.0, 3.0], [4.0, 5.0]])
TWO, THREE = (LoDTensor(np.ones((5, width)), T.lod) for width in (2, 3))
IDS, WORDS = lodcore.array([[0, 2], [1]]), lodcore.array([["a", "b"], ["c"]])
TABLE = np.array(["a", "b", "c"])
GAPS, TIMES = lodcore.array([[1.0], [], [2.0]]), lodcore.array([np.array([1, 2], "m8[s]"), np.array([3], "m8[s]")])
RNG = np.random.default_rng(0)


def layer(kind):
    made = kind(2, 3)
    return lambda x, **options: made(made.init(RNG), x, **options)


CALLS = [
    (lambda: lodcore.while_loop(3), "^while_loop: loop_vars: is 3; a list of initial values is needed"),
    (lambda: batching.batch_stream(None, 5), "^batch_stream: source: is NoneType; an iterable of items is needed"),
    (lambda: batching.pack_stream(3, 5), "^pack_stream: source: is int; an iterable of items is needed"),
    (lambda: batching.pack_plan([1, 2], max_len=4), "^pack_plan: got .* 'max_len'; use budget="),
    (lambda: batching.batches([1, 2], 4, batch_size=4), "^batches: got .* 'batch_size'; use max_items="),
    (lambda: lodcore.linear_fit(TWO, THREE), "linear_fit: y: has length 3 on axis 2"),
    (lambda: lodcore.cov(TWO, THREE), "cov: y: has length 3"),
    (lambda: lodcore.average(TWO, weights=THREE), "average: "),
    (lambda: lodcore.join_by_key(T, T, T, [1, 2]), "join_by_key: x_keys: has 1 level"),
    (lambda: layer(nn.LSTM)(THREE), r"LSTM: x: has rows of shape \(3,\)"),
    (lambda: layer(nn.LSTM)(TWO, level=4), "LSTM: level: is 4"),
    (lambda: layer(nn.GRU)(THREE), r"GRU: x: has rows of shape \(3,\)"),
    (lambda: nn.GRU(2, 3).initial_state(nn.GRU(2, 3).init(RNG), -1), "^GRU.initial_state: n: is -1"),
    (lambda: nn.LSTM(2, 3).initial_state(nn.LSTM(2, 3).init(RNG), -1), "^LSTM.initial_state: n: is -1"),
    (lambda: layer(nn.SimpleRNN)(np.ones((3, 2))), "SimpleRNN: x: is ndarray"),
    (lambda: batching.pack_plan([1, 2], 4).take([9]), "^PackPlan.take: bins: is 9 at position 0; there"),
    (lambda: np.select([T > 1], [T], 0.0), r"numpy\.select: .*use np\.where\(mask, x, y\)"),
    (
        lambda: np.char.upper(WORDS),
        r"upper: .*use x\.with_values\(np\.(strings|char)\.upper\(x\.values, \.\.\.\)\)"
        + "|LoDTensor: sequences of different lengths" * (not hasattr(np.char.upper, "_implementation")),
    ),
    (
        lambda: np.take(TABLE, IDS),
        r"of a table of rows lookup_table\(table, x\), or x\.with_values\(table\[x\.values\]\)",
    ),
    (lambda: TABLE[IDS], r"lookup_table\(table, x\)"),
    (lambda: np.ptp(GAPS, axis=1), r"^numpy\.ptp: sequence 1 of level 0 is empty"),
    (lambda: np.median(WORDS, axis=1), r"^numpy\.median: x: has dtype <U1; real numbers of at most float64, or dates"),
    (lambda: np.cumsum(WORDS, axis=1), r"^numpy\.cumsum: x: has dtype <U1; numbers of at most float64 are needed$"),
    (lambda: np.std(WORDS, axis=1), r"^std: x: has dtype <U1; numbers of at most float64 are needed$"),
    (lambda: np.std(TIMES, axis=1), r"^std: x: has dtype timedelta64\[s\]; numbers of at most float64 are needed$"),
    (lambda: np.var(TIMES, axis=1), r"^var: x: has dtype timedelta64\[s\]; numbers are needed$"),
    (lambda: np.dot(T, T), r"^numpy\.dot: y: has levels"),
    (lambda: np.searchsorted(T, 2.0), r"^numpy\.searchsorted: v: is float"),
    (lambda: np.take_along_axis(T, T, axis=1), r"^numpy\.take_along_axis: index: has dtype float64; integers are"),
    (lambda: np.moveaxis(GAPS, 0, 1), r"^numpy\.moveaxis: axes: sequence 1 of level 0 has length 0"),
]


@for_each("call", CALLS)
def test_an_error_names_the_function_that_was_called(call):
    run, text = call
    with pytest.raises((TypeError, ValueError, IndexError), match=text):
        run()


def test_calls_that_errors_advise_run():
    assert WORDS.with_values(np.char.upper(WORDS.values)).tolist() == [["A", "B"], ["C"]]
    assert IDS.with_values(TABLE[IDS.values]).tolist() == [["a", "c"], ["b"]]
    assert lodcore.lookup_table(np.ones((3, 2)), IDS).shape == (2, None, 2)
    assert np.where(T > 2, T, np.where(T > 1, -T, 0.0)).tolist() == [[0.0, -2.0, 3.0], [4.0, 5.0]]


def test_an_operator_without_a_spec_rule_names_define_infer():
    @operator(x=Nested)
    def twice(x):
        return x.values * 2

    with Program():
        rows = data("rows", (None,), "float64", num_levels=1)
        with pytest.raises(lodcore.GraphError, match=r"twice: has no Spec rule, which twice\.define_infer registers"):
            twice(rows)


def others(x):
    """Yield the same tensor of text, of wider rows, and of records."""
    values = x.values if isinstance(x, LoDTensor) else x
    for made in (values.astype("U3"), np.stack([values, values], -1), np.zeros(values.shape, [("a", "f8")])):
        yield LoDTensor(made, x.lod) if isinstance(x, LoDTensor) else made


@for_each("name", sorted(SAMPLES))
def test_operators_name_themselves_for_every_wrong_tensor(name):
    small = SAMPLES[name].small()
    arguments = OPS[name].bind(small.args, small.kwargs)
    for parameter, given in arguments.items():
        for wrong in others(given) if isinstance(given, (LoDTensor, np.ndarray)) else ():
            assert message_of(OPS[name], {**arguments, parameter: wrong}).startswith(f"{name}:"), parameter


#: Operators whose errors are those of NumPy's indices, or name the function that calls them.
OF_OTHERS = {"checked", "index_values"}


@for_each("name", sorted({*SAMPLES} - OF_OTHERS))
def test_errors_for_wrong_tensors_and_levels_begin_with_the_operator(name):
    small = SAMPLES[name].small()
    arguments = OPS[name].bind(small.args, small.kwargs)
    for parameter, given in arguments.items():
        wrong = NO_TENSORS if isinstance(given, (LoDTensor, np.ndarray)) else ()
        for one in NO_LEVELS if parameter in ("level", "axis") else wrong:
            assert message_of(OPS[name], {**arguments, parameter: one}).startswith(f"{name}:"), (parameter, one)


def test_text_that_is_no_number_names_cast():
    with pytest.raises(ValueError, match=r"^cast: x: could not convert string to float: .*'a'"):
        WORDS.astype(float)


def message_of(op, arguments):
    """Return the message of a call, and that of none if it computes."""
    try:
        op(**arguments)
    except Exception as error:
        return str(error)
    return f"{op.__name__}: computes"


# -- functions that are not operators ----------------------------------------------------------------------------------

#: Functions whose first argument is called, so that errors of what it calls are those of the caller's own operators.
CALLERS = ("dynamic_recurrent_op", "dynamic_rnn", "map_sequences", "recurrent_op", "static_rnn")
#: Objects that are no tensors, and some that are no levels or axes.
NO_TENSORS = ({1, 2}, object(), None, "text", 3.5, SparseTensor([0], [1.0], 2))
NO_LEVELS = (7, -9, 1.5, "a", True, None, [0])


def wrong_calls(name):
    """Yield calls with one wrong argument: its dtype, width or kind, or the level or axis."""
    call, args, kwargs = PUBLIC[name]
    for at, given in enumerate(args):
        if isinstance(given, (LoDTensor, np.ndarray)):
            kinds = () if name in CALLERS else NO_TENSORS
            for wrong in [*(() if name in CALLERS else others(given)), *kinds]:
                yield call, (*args[:at], wrong, *args[at + 1 :]), kwargs
    for keyword in {"level", "axis"} & set(kwargs):
        for wrong in NO_LEVELS:
            yield call, args, {**kwargs, keyword: wrong}


def errors_of(name):
    """Return the errors of wrong calls; what computes has none."""
    for call, args, kwargs in wrong_calls(name):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call(*args, **kwargs)
        except Exception as error:
            yield error


PUBLIC = public_calls.calls() | public_calls.methods()


@for_each("name", sorted(PUBLIC))
def test_functions_name_themselves_for_every_wrong_argument(name):
    call, args, kwargs = PUBLIC[name]
    call(*args, **kwargs)
    names = {name, f"lodcore.{name}", name.replace("LoDTensor.", "LoD."), "LoD" if name.startswith("LoD") else name}
    for error in errors_of(name):
        assert isinstance(error, (TypeError, ValueError, IndexError, lodcore.GraphError, AssertionError)), repr(error)
        assert str(error).partition(": ")[0] in names, error


PLACES = (lodcore, ops, nn, batching, graph, testing, interop, LoDTensor, lodcore.LoD, TensorArray, SparseTensor, np)


@for_each("name", sorted(PUBLIC))
def test_functions_and_attributes_named_in_errors_exist(name):
    for error in errors_of(name):
        for called in re.findall(r"(?<![\w.])(?:lodcore\.)?([a-z]\w+)\(", str(error)):
            assert any(hasattr(place, called) for place in PLACES), error
        for attribute in re.findall(r"\bx\.(\w+)", str(error)):
            assert hasattr(LoDTensor, attribute) or hasattr(np.ndarray, attribute), error
        for function in re.findall(r"\bnp\.(\w+)", str(error)):
            assert hasattr(np, function), error


# -- keywords ----------------------------------------------------------------------------------------------------------

KEYWORDS = [
    (lambda x: x.sum(axis=1, level=0), "sum: axis, level: are 1, 0; one of them is needed$"),
    (lambda x: x.argmax(axis=1, level=0), "argmax: axis, level: are 1, 0; one of them is needed$"),
    (lambda x: x.cumsum(level=0), r"cumsum: .*'level'; .*lodcore\.sequence_cumsum\(x, level=0\)"),
    (lambda x: lodcore.sequence_pool(x, "sum", axis=1), r"sequence_pool: .*'axis'; use level=, .*x\.sum\(axis=1\)"),
    (lambda x: x.pool("sum", axis=1), r"sequence_pool: .*'axis'; use level="),
    (lambda x: lodcore.sequence_softmax(x, axis=1), r"sequence_softmax: .*'axis'; use level=.*-1 the last$"),
    (lambda x: lodcore.sequence_sort(x, reverse=True), "sequence_sort: .*'reverse'; use descending=$"),
    (lambda x: lodcore.sequence_pad(x, value=0), "sequence_pad: .*'value'; use pad_value=$"),
    (lambda x: lodcore.sequence_pool(x, "sum", pad_valu=0), "sequence_pool: .*'pad_valu'; use pad_value=$"),
    (lambda x: lodcore.softmax(x, level=0), r"softmax: .*lodcore\.sequence_softmax\(x, level=0\)"),
    (lambda x: lodcore.tanh(x, level=0), "tanh: .*'level'; its arguments are x$"),
]


@for_each(("call", "says"), KEYWORDS)
def test_unknown_keyword_raises_with_the_similar_keyword(call, says):
    for run in (call, lambda x: vjp(call, x)):
        with pytest.raises(TypeError, match=says):
            run(T)
    with Program():
        x = data("x", (None,), "float64", num_levels=1)
        with pytest.raises(TypeError, match=says):
            call(x)


def test_a_type_error_of_an_operator_with_the_right_keywords_stays():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'pool_type'"):
        lodcore.sequence_pool(T, level=0)
