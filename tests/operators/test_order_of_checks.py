"""Wrong calls report the same error at once and recorded, also if two arguments are wrong."""

import numpy as np

import lodcore
from lodcore import LoDTensor, Program, data, ops
from lodcore.operators.roles import spec_of
from tests.helpers.tables import for_each

FLAT = lodcore.array([[1.0, 2.0], [], [3.0]])
WIDE = LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [2, 0, 1])
OTHER = LoDTensor.from_lengths(np.arange(8.0).reshape(4, 2), [2, 1, 1])
DEEP = lodcore.array([[[[1.0], [2.0]]], [[[3.0]]]])
COMPLEX = FLAT.astype(np.complex128)
IDS, HALVES = np.array([1, 2, 3]), np.array([0.5, 1.5, 2.5])


def error_of(call, *args):
    """Return the class and the text of the error of a call."""
    try:
        call(*args)
    except Exception as error:
        return type(error), str(error)
    raise AssertionError("no error")


@for_each(
    ("call", "tensors", "says"),
    [
        (lambda x: ops.sequence_shift(x, 1.0, [1, 2]), [FLAT], "sequence_shift: n: is 1.0"),
        (lambda x: ops.sequence_shift(x, 1.0, level=5), [FLAT], "sequence_shift: n: is 1.0"),
        (lambda x: ops.sequence_var(x, True), [COMPLEX], "sequence_var: ddof: is True"),
        (lambda x: ops.sequence_std(x, "a"), [COMPLEX], "sequence_std: ddof: is 'a'"),
        (
            lambda x: ops.pool_positions(x, "first"),
            [LoDTensor(np.arange(3.0), lodcore.LoD.from_offsets(num_rows=3))],
            "pool_positions: pool_type: is 'first'",
        ),
        (lambda x, y: ops.cross_entropy(x, y, 1.5, 1.0), [WIDE, IDS], "cross_entropy: label_smoothing: is 1.5"),
        (lambda x, y: ops.cross_entropy(x, y, 0.0, 1.0), [COMPLEX, IDS], "cross_entropy: ignore_index: is 1.0"),
        (lambda x, y: ops.cross_entropy(x, y), [COMPLEX, FLAT[1:]], "cross_entropy: logits: have dtype complex128"),
        (lambda x, y, z: lodcore.nn.dot_attention(x, y, z), [IDS[:, None], WIDE, DEEP], "dot_attention: values: has 3"),
        (lambda x, y: lodcore.nn.dot_attention(x, y), [DEEP, WIDE], "dot_attention: query: has 3 levels"),
        (
            lambda x, y, z: lodcore.nn.dot_attention(x, y, z, "a"),
            [np.ones((3, 2)), WIDE, OTHER],
            "dot_attention: scale: is 'a'",
        ),
        (
            lambda x, ids, before: lodcore.beam_search(ids, before, None, x, 2, "a"),
            [WIDE, IDS[:2], HALVES],
            "beam_search: end_id: is 'a'",
        ),
        (
            lambda x, ids, before: lodcore.beam_search(ids, before, None, x, 2, 0),
            [WIDE, IDS[:2], HALVES.astype("c16")],
            "beam_search: pre_scores: has dtype complex128",
        ),
        (
            lambda x, ids, before, given: lodcore.beam_search(ids, before, given, x, 2, 0),
            [WIDE, IDS[:2], HALVES, WIDE.values],
            "beam_search: ids: has dtype float64",
        ),
    ],
)
def test_the_first_of_two_errors_is_the_same_at_once_and_recorded(call, tensors, says):
    at_once = error_of(call, *tensors)
    assert at_once[1].startswith(says)
    with Program():
        assert error_of(call, *[data(f"x{j}", spec_of(x)) for j, x in enumerate(tensors)]) == at_once


@for_each(("given", "kind"), [([1, 2], "list"), ((), "tuple"), (3, "int"), ("a", "str"), (0.5, "float")])
def test_recorded_calls_refuse_what_is_neither_an_array_nor_a_rank_table(given, kind):
    with Program():
        x, index = data("x", (None,), "f8"), data("i", (), "i8")
        for call, text in (
            (lambda: lodcore.tensor_array_write(given, 0, x), "tensor_array_write: ta: is {}; a TensorArray is needed"),
            (lambda: lodcore.tensor_array_read(given, index), "tensor_array_read: ta: is {}; a TensorArray is needed"),
            (
                lambda: lodcore.reorder_by_rank(x, given),
                "reorder_by_rank: table: is {}; a RankTable or an IndicesMap is needed",
            ),
        ):
            assert error_of(call) == (lodcore.DTypeError, text.format(kind))
    at_once = error_of(lodcore.reorder_by_rank, np.zeros(3), given)
    assert at_once == (lodcore.DTypeError, text.format(kind))
