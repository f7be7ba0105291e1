"""A wrong call raises one error, of one type and text: computed, under vjp, in a Program, and in the body of a loop.

Errors that follow from Specs are raised at recording, others at execution; there the loop adds the number of the step
to the text, and says for a hole in an array of the body that the array is new in every step. A size that is unknown at
recording is None in the text; errors of Python about signatures have their own text.
"""

import ast
import re

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, vjp
from lodcore.graph import Executor, Program, VarArray, Variable, data
from lodcore.operators.roles import spec_of
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import run_body
from tests.helpers.wrong_calls import run, things
from tests.samples import SAMPLES

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

#: Calls that need the structure or the memory of a value, which a Variable may not have.
OF_VALUES = re.compile(
    r"\.lod\b|LoDTensor|np\.\w+\(\w+[,)]|matrix|objects|masked|out=|\.values|\.astype|\.T\b|\.reshape"
)

CALLS = [
    "sequence_pool(x, 'sum', level=3)",
    "sequence_pool(x, 'sum', level=1.0)",
    "sequence_cumsum(x, 1.0)",
    "sequence_softmax(wide, level=True)",
    "sequence_sort(flat, level=-2)",
    "sequence_topk(flat, 1.5)",
    "sequence_slice(flat, 1.5, 1)",
    "sequence_reverse(flat, 7)",
    "sequence_enumerate(flat, 0)",
    "sequence_reshape(wide, 0)",
    "sequence_expand(wide, flat, ref_level=3)",
    "sequence_conv(wide, [[1.0], [2.0]], 1.5)",
    "gather_sequences(flat, [5])",
    "gather_sequences(flat, [0.5])",
    "lod_rank_table(flat, 2)",
    "shrink_memory(rows, -1, lod_rank_table(flat))",
    "split_by_mask(flat, [0.5, 1.0, 0.0])",
    "ops.softmax(dense, axis=9)",
    "mean(dense, axis=2.0)",
    "matmul(dense, np.ones((3, 3)))",
    "add(dense, np.ones((2, 2)))",
    "add(dense, np.ones(5))",
    "add(rows, np.ones(3))",
    "add(flat, np.uint8([[1], [2]]))",
    "add(flat, {1, 2})",
    "add(rows.astype('u1'), 300)",
    "minus(flat > 1, True)",
    "mul(None, flat)",
    "mul(wide, array([[np.ones((1, 3))]]))",
    "ops.concat_values([wide, x], 1)",
    "sequence_softmax(array([['a']]))",
    "ops.softmax(np.array(['a']))",
    "ops.sigmoid(np.array(['a']))",
    "ops.where(flat > 1, x, 0)",
    "ops.where(flat > 1, np.ones((5, 1)), 0)",
    "ops.where(flat > 1, np.ones(4), 0)",
    "ops.maximum(flat, None)",
    "np.maximum(flat, np.ones((5, 1)))",
    "ops.elementwise([flat, np.ones((5, 1))], np.maximum)",
    "ops.elementwise([flat, None], np.maximum)",
    "ops.elementwise([flat, 'a'], np.maximum)",
    "ops.elementwise([flat, [[1], [2, 3]]], np.maximum)",
    "ops.elementwise(None, np.maximum)",
    "ops.sum([[1], [2, 3]])",
    "ops.sum(np.array(['a']))",
    "flat + None",
    "flat + [[1], [2, 3]]",
    "flat * np.ones((5, 1))",
    "add(flat, {})",
    "add(flat, 2**70)",
    "tensor_array_write(TensorArray(), 0, {1, 2})",
    "flat @ None",
    "tensor_array_unpack(flat, 1)",
    "tensor_array_unstack(flat, 1)",
    "TensorArray.unpack(flat, 'a')",
    "TensorArray.unstack(dense, 2)",
    "TensorArray.unstack(dense).read(3)",
    "TensorArray.unstack(dense).read(0.5)",
    "TensorArray.unstack(dense).read('t')",
    "TensorArray.unstack(dense).read(dense)",
    "TensorArray.unstack(dense).read(rows > 1)",
    "TensorArray.unstack(dense).write('t', dense)",
    "shrink_memory(rows, 't', lod_rank_table(flat))",
    "TensorArray.unstack(dense).stack(4)",
    "TensorArray.unstack(dense).concat('a')",
    "TensorArray(2, dynamic=False).write(2, dense)",
    "TensorArray(2).stack()",
    "lookup_table(dense, [0.5])",
    "embedding_bag(dense, [[0, 9]], 'sum')",
    "np.vecdot(flat, flat[[2, 1, 0]])",
    "np.ptp(flat, axis=1)",
    "np.max(flat, axis=1)",
    "np.nanmax(wide, axis=1)",
    "np.average(flat, axis=1, weights=flat[[2, 1, 0]])",
    "np.clip(flat, flat[[2, 1, 0]], None)",
    "np.clip(flat, None, flat[[2, 1, 0]])",
    "np.sum(flat, axis=1, where=flat[[2, 1, 0]] > 1)",
    "np.diff(flat, prepend=flat[:1])",
    "np.concatenate([flat, flat[:2]], axis=1)",
    "np.searchsorted(flat, flat[:2])",
    "corr(flat, flat[[2, 1, 0]])",
    *[f"tensor_array_{name}(None)" for name in ("concat", "stack", "size")],
    *[
        call.format(entry)
        for call in ("concat_batches([flat, {}])", "sequence_concat([{}, flat])", "sequence_interleave([flat, {}])")
        for entry in ("None", "3", "1.5", "'a'", "{1}", "np.float64(3)")
    ],
    *[row[0] for name in sorted(SAMPLES) for row in SAMPLES[name].errors if not OF_VALUES.search(row[0])],
]

#: Texts of errors that depend on values, or on numbers of rows, sequences or entries: found when the Program runs.
OF_THE_RUN = re.compile(
    r"has \d+ (entries|rows|sequences|lines)|has no values|(for|in) sequence \d|sequence \d+ (of level|has)|"
    r"row for each|(at (row|position)|batch) \d|out of bounds|on axis (0|1, along which x is ragged; 1 )|"
    r"index: is -?\d|h_0: has shape|step: is .*(count|array)|pad_value: is .* cannot|default: is|labels: have|"
    r"lengths: have|[yd]: (offsets|has \d+ r)|bytes; this|maxlen: is -?\d;|mask: (has (\d|rows)|is true)|"
    r"repeats: (is|make)|offsets\[|num_rows|levels? and|numbered by int32|could not be broadcast together"
)
#: Other wrong calls that are found when the Program runs: an argument is a list, or a number instead of a tensor.
MORE_OF_THE_RUN = {
    "sequence_slice(flat, 1.5, 1)",
    "gather_sequences(flat, [0.5])",
    "ops.elementwise([flat, None], np.maximum)",
    "add(flat, 2**70)",
    "cross_entropy(dense[0], [0])",
    "cross_entropy(wide, x)",
    "ops.interleave_places([flat, x])",
    "ops.pick_along(flat, [0, 1], 0)",
    "repeat_runs(flat, x)",
    "sequence_concat([flat, x])",
    "sequence_expand_as(flat, flat)",
    "sequence_expand_as(x, x)",
    "sequence_expand_as(5, flat)",
    "sequence_pool(wide, 'sum', [1.0, 2.0, 3.0])",
    "sequence_scatter(dense, flat, wide)",
    "sequence_unflatten(flat, 0)",
    "split_by_mask(flat[:0], np.zeros(0))",
    "merge_by_mask(flat, x, True)",
    "ops.take_nested(flat, [[0.0], [], []])",
    "ops.take_nested(flat, wide)",
    "ops.zero_states(rows, 2)",
    "ops.last_of_steps(steps, np.zeros(3), steps_map)",
    "ops.last_of_steps(pair, np.zeros(3), steps_map)",
    "ops.last_of_steps(steps, np.zeros(3, int), TensorArray.unpack(flat, 0, False)[1])",
    "sequence_scatter(dense, flat, np.zeros(3))",
    "lod_append(flat, lengths=[1] * 6)",
    "lod_append(flat, lengths=[1] * 4)",
    "reorder_by_rank(flat, [2, 0, 1])",
    "sequence_scatter(dense, [[0, 1], [2], []], np.ones((1, 1)))",
    "sequence_scatter(dense, [[0, 1], [2], []], np.ones((2, 1)))",
    "sequence_scatter(dense, [[0], [1], [2]], array([[[1.0]], [[1.0]], [[1.0]]]))",
    "sequence_slice(flat, 0.0, 0)",
    "sequence_slice(flat, 0, '1')",
    "sequence_slice(flat, True, 0)",
    "gather_sequences(LoDTensor.from_lengths(np.empty((2**40, 0)), [2**40]), np.zeros(2**23, int))",
    "ops.last_of_steps(TensorArray(unstack_from=np.ones((3, 2))), np.zeros(3), steps_map)",
}


def given():
    """Make the tensors that may be inputs of a Program."""
    found = {name: x for name, x in things().items() if isinstance(x, (LoDTensor, np.ndarray))}
    return {name: x for name, x in found.items() if name not in ("objects", "masked")}


def words(call, names):
    """Return the error of a call that is computed: type and text."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        run(call, names)
    return caught.type, str(caught.value)


def under_vjp(call, names):
    tensors = given()
    vjp(lambda *values: [run(call, {**names, **dict(zip(tensors, values, strict=True))}), None][1], *tensors.values())


def in_a_program(call, names):
    """Record a call on data; run it if recording succeeds, which must not be a matter of Specs alone."""
    tensors = given()
    with Program() as program:
        made = run(call, {**names, **{name: data(name, spec_of(x)) for name, x in tensors.items()}})
    text = words(call, things())[1]
    assert OF_THE_RUN.search(text) or call in MORE_OF_THE_RUN, f"found at recording before: {text}"
    listed = made if isinstance(made, (tuple, list)) else [made]
    wanted = [y for y in listed if isinstance(y, (Variable, TensorArray, VarArray))]
    Executor().run(program, tensors, wanted)


def of_data(call, names):
    """Record a call whose tensors are all data, whatever expressions they are; run it if recording succeeds."""
    tree, feed = ast.parse(call, mode="eval").body, {}

    def argument(node):
        x = run(ast.unparse(node), names)
        if type(x) not in (LoDTensor, np.ndarray) or x.dtype == object:
            return x
        name = f"x{len(feed)}"
        feed[name] = x
        return data(name, spec_of(x))

    with Program() as program:
        function = run(ast.unparse(tree.func), names)
        made = function(*map(argument, tree.args), **{one.arg: argument(one.value) for one in tree.keywords})
    text = words(call, things())[1]
    assert OF_THE_RUN.search(text) or call in MORE_OF_THE_RUN, f"found at recording before: {text}"
    listed = made if isinstance(made, (tuple, list)) else [made]
    Executor().run(program, feed, [y for y in listed if isinstance(y, (Variable, TensorArray, VarArray))])


def in_a_body(call, names):
    run_body(lambda step: [run(call, names), None][1], steps=1)


WAYS_TO_BE_WRONG = {"vjp": under_vjp, "Program": in_a_program, "in a body": in_a_body}


@for_each("call", CALLS)
def test_wrong_calls_raise_one_type_and_text_in_every_way(call):
    """All wrong calls take seconds: most ways record or trace each of them again."""
    kind, text = words(call, things())
    for way, run_in in WAYS_TO_BE_WRONG.items():
        with pytest.raises(Exception) as caught:  # noqa: PT011
            run_in(call, things())
        assert caught.type is kind, way
        assert_same_text(way, kind, str(caught.value), text)


#: Wrong calls of other tensors than those of `things`; those of full_like and of objects have texts of their own, and
#: those with * are left out.
OTHERS = [
    row[0]
    for name in sorted(SAMPLES)
    for row in SAMPLES[name].errors
    if OF_VALUES.search(row[0]) and not re.search(r"out=|full_like|objects|\(\*", row[0])
]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("call", OTHERS)
def test_wrong_calls_with_np_matrix_raise_the_same_text_in_a_program(call):
    names = {**things(), "matrix": np.matrix([[1, 2]])}
    kind, text = words(call, names)
    with pytest.raises(kind) as caught:
        of_data(call, names)
    assert caught.type is kind
    assert_same_text("Program", kind, str(caught.value), text)


def assert_same_text(way, kind, found, text):
    """Check that an error has the text of the computed call."""
    said = [found]
    if way == "in a body":  # after the step, and the operator's name if the error does not start with it
        said = [re.sub("; it is made anew in every step: .*", "", said[0])]
        said += [re.sub(r"^while_loop: step 0: ", "", said[0]), re.sub(r"^while_loop: step 0: \w+: ", "", said[0])]
    if kind is not TypeError:
        said = [one.replace("(number of sequences,", "(None,") for one in said]  # of a Spec
        patterns = [re.escape(one).replace("None", r"(\d+|None)") for one in said]
        assert any(re.fullmatch(pattern, text, re.S) for pattern in patterns), (way, said, text)


def test_levels_out_of_range_or_no_integers_have_one_text_each():
    """One text for a level out of range, and one for a level that is not an integer."""
    x = lodcore.array([[1.0, 2.0], [3.0]])
    for call in (lambda: lodcore.sequence_pool(x, "sum", level=3), lambda: lodcore.sequence_cumsum(x, 3)):
        with pytest.raises(lodcore.LevelError, match="level: is 3; there is 1 level"):
            call()
    for call in (lambda: lodcore.sequence_pool(x, "sum", level=1.0), lambda: lodcore.sequence_cumsum(x, 1.0)):
        with pytest.raises(lodcore.DTypeError, match=r"level: is 1\.0"):
            call()
