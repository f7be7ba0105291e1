"""Lists passed as tensors: a recording accepts them as the operator itself does."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, TensorArray, concat_batches, lod_rank_table, sequence_concat, vjp
from lodcore.graph import Executor, Program, Variable
from lodcore.operators.registry import OPS
from lodcore.operators.roles import spec_of
from lodcore.testing.samples import bits
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

HUGE = 2**63  # together with small or negative numbers, NumPy makes float64 of it
X = lodcore.array([[1.0, 2.0, 3.0], [4.0], [5.0, 6.0]])
NONE = lodcore.array([], num_levels=1)
TABLE = np.ones((3, 2))
RANKS = lod_rank_table(X)

CALLS = [
    *[("gather_sequences", X, index) for index in ([], (), [HUGE, 1], [2 * HUGE, 1], [HUGE, -1], [[]], [[0]], [1.0])],
    *[("pick_along", X, index, 1) for index in ([0, 0, 0], [HUGE, 0, 0], [HUGE, -1, 0], [[0], [0], [0]])],
    *[("take_of_each", X, index, 1) for index in ([], [0], [2 * HUGE], [HUGE, -1])],
    *[("select_by_mask", x, mask) for x, mask in ((X, []), (NONE, []), (X, [True, False, True]), (X, [1, 0, 1]))],
    *[("index_values", np.arange(4.0), [key]) for key in ([], [0, 1], [HUGE], [HUGE, -1], [[0, 1]], slice(1, None))],
    *[("lookup_table", TABLE, ids) for ids in ([], [[]], [1, 0], [[0, 1], []], [[0], [HUGE]], [HUGE, -1])],
    *[("embedding_bag", TABLE, ids) for ids in ([[0], []], [[], []], [[HUGE], [-1]], [])],
    *[
        ("cross_entropy", scores, labels)
        for scores, labels in ((TABLE, [0, 1, 1]), (TABLE[:0], []), (TABLE, [HUGE, -1, 0]))
    ],
    *[("sequence_unpad", TABLE, length) for length in ([1, 2, 0], [0, 1, HUGE], [-1, 1, HUGE], [])],
    *[("sequence_mask", lengths) for lengths in ([], [2, 3], [HUGE, -1])],
    *[("sequence_slice", X, [0, 0, 0], length) for length in ([1, 1, 1], [1, HUGE, 1])],
    *[("split_by_mask", X, mask) for mask in ([True, False, True], [], [True, 0, 1])],
    *[("sequence_erase", [[1, 2], [3]], tokens) for tokens in ([], [2], [HUGE, 1], [HUGE, -1])],
    *[("sequence_expand_as", x, y) for x, y in (([], NONE), ([1, 2, 3], X), ([[1], [2], [3]], X))],
    *[("take_nested", X, index) for index in ([[], [], []], [[0], [], [-1]], [[0], [], [HUGE]], [[0], [-1], [HUGE]])],
    ("sequence_scatter", np.zeros((3, 4)), [[], [], []], [[], [], []]),
    ("sequence_scatter", np.zeros((3, 4)), [[0], [], [1]], [[1.0], [], [2.0]]),
    *[("merge_by_mask", *sides) for sides in (([1, 2], [3], [True, False, True]), ([], [3.0], [False]), ([], [], []))],
    *[("shrink_memory", x, step, RANKS) for x, step in (([1, 2, 3], 1), ([1, 2, 3], [0]), ([], 5))],
    *[("lod_reset", x, None, offsets) for x, offsets in ((X, [0, 2, 6]), ([1, 2, 3], [0, 1, 3]), ([], [0]))],
    *[("concat_batches", xs) for xs in ([X, [[]]], [[[1]], []], [[], []], [X, [1]])],
    *[("sequence_concat", xs) for xs in ([X, [[], [], []]], [[[]], [[1]]])],
    *[("concat_values", xs, 0) for xs in ([[1, 2], [3]], [[1, 2], []], [[1, 2], [3.0]], [[[1, 2]], [[3, 4]]])],
    *[("elementwise", xs, np.add) for xs in ([[1, 2], [3, 4]], [[], []], [[1, 2], 3.5], [[HUGE, 1], [1, 1]])],
    *[("add", x, y) for x, y in (([], []), ([1, 2], []), ([], 1), ([HUGE, -1], [1, 1]), ([2 * HUGE], 1), ([], X))],
    *[("rows", x) for x in ([], [[1, 2]], [[1, 2], [3]])],
    *[("reduce_values", x, "sum") for x in ([], [[1, 2], [3, 4]], [[1], [2, 3]])],
    *[("slice_along", [[1, 2], [3]], start, None, None, 1) for start in (1, [1], [], HUGE)],
    *[("tensor_array_write", TensorArray(), index, [1]) for index in (0, [0], [])],
    *[(f"sequence_{name}", X[1:], each) for name in ("repeat", "unflatten") for each in ([[1], [1, 1]], [1, 2], [[1]])],
    *[("sequence_unflatten", X[:0], each, 0) for each in ([], [[]])],
    *[(name, X) for name in ("tanh", "sequence_softmax", "sequence_reverse", "sequence_cumsum")],
    ("div", X, 2.0),
    ("sequence_pool", [[], []], "max"),
    ("tensor_array_unpack", [[], [1]], 0),
]


def outcome(run):
    """Return the bits of the result, or the error."""
    try:
        return bits(run())
    except (ValueError, TypeError, LookupError, RuntimeError) as error:
        return type(error), str(error)


def in_a_program(op, arguments):
    with Program() as program:
        made = op(*arguments)
    found = Executor().run(program, {}, list(made) if isinstance(made, tuple) else [made])
    return tuple(found) if isinstance(made, tuple) else found[0]


@for_each("call", CALLS)
def test_lists_give_the_same_result_recorded_and_at_once(call):
    op, arguments = OPS[call[0]], call[1:]
    eager = outcome(lambda: op(*arguments))
    assert outcome(lambda: in_a_program(op, arguments)) == eager
    if call[1] is X:
        assert outcome(lambda: vjp(lambda x: op(x, *arguments[1:]), X)[0]) == eager


@for_each("call", CALLS)
def test_arguments_by_name_are_converted_like_others(call):
    """From any one on, at once and recorded; errors say the same, too."""
    op = OPS[call[0]]

    def fresh():
        return [TensorArray() if isinstance(given, TensorArray) else given for given in call[1:]]

    wanted = outcome(lambda: op(*fresh()))
    for first in range(len(call) - 1):

        def by_name(first=first):
            given = fresh()
            return op(*given[:first], **dict(zip(op.parameters[first:], given[first:], strict=False)))

        assert outcome(by_name) == wanted, first
        assert outcome(lambda run=by_name: in_a_program(run, ())) == wanted, first


@for_each("name", ["concat_batches", "sequence_concat"])
def test_variables_are_found_anywhere_in_lists_and_tuples(name):
    """The first, the last, or all of them Variables of a Program; given by position or by name."""
    op, parameter = OPS[name], OPS[name].parameters[0]
    wanted = bits(op([X, X, X]))
    for kind in (list, tuple):
        for places in ([0], [2], [1, 2], [0, 1, 2]):
            for call in (op, lambda xs: op(**{parameter: xs})):
                with Program() as program:
                    x = lodcore.graph.data("x", spec_of(X))
                made = call(kind(x if j in places else X for j in range(3)))  # no Program is open
                assert isinstance(made, Variable)
                assert bits(Executor().run(program, {"x": X}, [made])[0]) == wanted


def test_program_copies_lists_when_it_records_them():
    index = [[0], [1, 0]]
    with Program() as program:
        made = OPS["index_values"](np.arange(4.0), [index[0]])
        taken = OPS["gather_sequences"](X, index[0])
    index[0][0] = 2
    found, sequences = Executor().run(program, {}, [made, taken])
    assert found.tolist() == [0.0]
    assert sequences.tolist() == [[1.0, 2.0, 3.0]]


# -- lists without values ----------------------------------------------------------------------------------------------

WIDE = LoDTensor.from_lengths(np.arange(6, dtype="f4").reshape(3, 2), [1, 2])
DEEP = lodcore.array([[[1, 2], [3]], []])


@pytest.mark.parametrize(
    ("xs", "want", "dtype"),
    [
        ([[[1, 2]], [[]]], [[1, 2], []], "i8"),
        ([[], [[1, 2]]], [[1, 2]], "i8"),
        ([[[]], WIDE, ()], [[], *WIDE.tolist()], "f4"),
        ([DEEP, []], DEEP.tolist(), "i8"),
        ([DEEP, [[]]], [*DEEP.tolist(), []], "i8"),
        ([[[[]]], DEEP], [[[]], *DEEP.tolist()], "i8"),
        ([[[]], [[np.empty(0, "f2")]]], [[], [[]]], "f2"),
        ([[[]], [[]]], [[], []], "f8"),
    ],
)
def test_empty_lists_take_dtype_rows_and_levels_of_the_others(xs, want, dtype):
    joined = concat_batches(xs)
    assert joined.tolist() == want
    assert joined.dtype == dtype
    tensors = [x for x in xs if isinstance(x, LoDTensor)]

    def run(*variables):
        rest = iter(variables)
        return concat_batches([next(rest) if isinstance(x, LoDTensor) else x for x in xs])

    assert bits(vjp(run, *tensors)[0]) == bits(joined)


def test_empty_lists_are_joined_sequence_by_sequence():
    assert sequence_concat([WIDE, [[], []]]).equals(WIDE)
    recorded, pullback = vjp(lambda x: sequence_concat([[[], []], x]), WIDE)
    assert bits(recorded) == bits(WIDE)
    assert bits(pullback(WIDE)[0]) == bits(WIDE)


@pytest.mark.parametrize(
    ("xs", "error", "says"),
    [
        ([WIDE, lodcore.array([[]])], DTypeError, r"xs\[1\]: has dtype float64; xs\[0\] has float32"),
        ([WIDE, [np.empty((0, 2))]], DTypeError, r"xs\[1\]: has dtype float64; xs\[0\] has float32"),
        ([WIDE, [[[]]]], LoDError, "batch 1: has 2 levels; the first one has 1"),
        ([[[]], None], DTypeError, r"xs\[1\]: is NoneType"),
    ],
)
def test_concat_batches_of_empty_tensors_keeps_their_dtypes_or_refuses(xs, error, says):
    with pytest.raises(error, match=says):
        concat_batches(xs)


@for_each(
    ("name", "x", "given"),
    [
        ("gather_sequences", X, [0, 1]),
        ("select_by_mask", X, [True, False, True]),
        ("index_values", np.arange(4.0), [[0, 1]]),
        ("index_values", np.ones((4, 2)), [[0, 1], slice(None)]),
        ("lookup_table", TABLE, [[0, 1], [1]]),
        ("sequence_unpad", TABLE, [1, 1, 0]),
        ("sequence_unpad", TABLE, [[1], [1], [0]]),
        ("split_by_mask", X, [[True], [False], [True]]),
        ("sequence_erase", lodcore.array([[1, 2], [3]]), [[1], [2]]),
        ("sequence_repeat", X, [1, 1, 0, 1, 0, 1]),
        ("sequence_repeat", X, [[1, 1, 1], [1], [0, 0]]),
        ("sequence_expand_as", [1.0, 0.0, 1.0], X),
        ("concat_batches", [[[0.0]], [[1.0]]], None),
        ("elementwise", [[0.0, 1.0], [1.0, 1.0]], np.add),
        ("gather_nested", X, [[0], [1]]),
        ("lod_append", X, None),
    ],
)
def test_lists_changed_after_recording_do_not_change_results_and_gradients(name, x, given):
    """The list, and lists in it: changed after recording, and between two runs."""

    def changed(one):
        for j, inner in enumerate(one):
            if isinstance(inner, list):
                changed(inner)
            elif not isinstance(inner, slice):
                one[j] = type(inner)(not inner)

    op, options = OPS[name], {"lengths": [1] * 6} if name == "lod_append" else {}
    arguments = [one for one in (x, given) if one is not None]
    eager = bits(op(*arguments, **options))
    with Program() as program:
        made = op(*arguments, **options)
    wanted = [*made] if isinstance(made, tuple) else [made]
    for _ in range(2):
        for one in [*arguments, *options.values()]:
            if isinstance(one, list):
                changed(one)
        found = Executor().run(program, {}, wanted)
        assert bits(tuple(found) if isinstance(made, tuple) else found[0]) == eager


@for_each("name", ["gather", "reset", "append", "split", "merge", "reorder", "shrink", "pool", "concat", "scatter"])
def test_tuples_are_taken_as_lists(name):
    table = lodcore.lod_rank_table([[1, 2], [3]])
    call = {
        "gather": lambda x: lodcore.gather_nested(x, [1, 0]),
        "reset": lambda x: lodcore.lod_reset(x, target_lod=[0, 1, 3]),
        "append": lambda x: lodcore.lod_append(x, lengths=[2, 0, 1]),
        "split": lambda x: lodcore.split_by_mask(x, [True, False])[0],
        "merge": lambda x: lodcore.merge_by_mask(x, x, [True, False, False, True]),
        "reorder": lambda x: lodcore.reorder_by_rank(x, table),
        "shrink": lambda x: lodcore.shrink_memory(x, 1, table),
        "pool": lambda x: lodcore.sequence_pool(x, "sum"),
        "concat": lambda x: lodcore.concat_batches((x, x)),
        "scatter": lambda x: lodcore.sequence_scatter(np.zeros((2, 4)), x, x),
    }[name]
    wanted = call([[1, 2], [3]])
    for form in (((1, 2), (3,)), [(1, 2), (3,)], ([1, 2], [3])):
        found = call(form)
        assert type(found) is type(wanted)
        assert found.tolist() == wanted.tolist()
