"""Errors begin with the name of the public function that was called, whatever it calls."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, nn
from lodcore.graph import Program, data
from lodcore.ops import Nested, operator
from lodcore.ops.registry import OPS
from tests.helpers.tables import for_each
from tests.samples import SAMPLES

pytestmark = pytest.mark.not_on_reference

T = lodcore.array([[1.0, 2.0, 3.0], [4.0, 5.0]])
TWO, THREE = (LoDTensor(np.ones((5, width)), T.lod) for width in (2, 3))
IDS, WORDS = lodcore.array([[0, 2], [1]]), lodcore.array([["a", "b"], ["c"]])
TABLE = np.array(["a", "b", "c"])
RNG = np.random.default_rng(0)


def layer(kind):
    made = kind(2, 3)
    return lambda x, **options: made(made.init(RNG), x, **options)


CALLS = [
    (lambda: lodcore.linear_fit(TWO, THREE), "linear_fit: y: has length 3 on axis 2"),
    (lambda: lodcore.cov(TWO, THREE), "cov: y: has length 3"),
    (lambda: lodcore.average(TWO, weights=THREE), "average: "),
    (lambda: lodcore.join_by_key(T, T, T, [1, 2]), "join_by_key: x_keys: has 1 level"),
    (lambda: layer(nn.LSTM)(THREE), r"LSTM: x: has rows of shape \(3,\)"),
    (lambda: layer(nn.LSTM)(TWO, level=4), "LSTM: level: is 4"),
    (lambda: layer(nn.GRU)(THREE), r"GRU: x: has rows of shape \(3,\)"),
    (lambda: layer(nn.SimpleRNN)(np.ones((3, 2))), "SimpleRNN: x: is ndarray"),
    (lambda: np.select([T > 1], [T], 0.0), r"numpy\.select: .*use np\.where\(mask, x, y\)"),
    (lambda: np.char.upper(WORDS), r"upper: .*use x\.with_values\(np\.(strings|char)\.upper\(x\.values, \.\.\.\)\)"),
    (
        lambda: np.take(TABLE, IDS),
        r"of a table of rows lookup_table\(table, x\), or x\.with_values\(table\[x\.values\]\)",
    ),
    (lambda: TABLE[IDS], r"lookup_table\(table, x\)"),
]


@for_each("call", CALLS)
def test_an_error_names_the_function_that_was_called(call):
    run, text = call
    with pytest.raises((TypeError, ValueError), match=text):
        run()


def test_what_the_advice_says_runs():
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


def message_of(op, arguments):
    """Return the message of a call, and that of none if it computes."""
    try:
        op(**arguments)
    except Exception as error:
        return str(error)
    return f"{op.__name__}: computes"
