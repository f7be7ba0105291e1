"""Rows of tables by lists of arrays and with weights, compared with NumPy."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops
from tests.helpers.agree import values_of
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
def test_tables_take_ids_as_lists_of_arrays():
    table = np.arange(8.0).reshape(4, 2)
    for ids in ([[0, 3], [1]], [[0, 3], [1, 2]], [[2]]):
        given = [np.array(one) for one in ids]
        for found in (lodcore.lookup_table(table, given), lodcore.gather_nested(table, given)):
            assert found.tolist() == [table[one].tolist() for one in ids]
        wanted = [table[one].sum(0).tolist() for one in ids]
        assert ops.embedding_bag(table, given).tolist() == wanted


@pytest.mark.not_on_reference
def test_embedding_bag_in_a_program_takes_constant_weights():
    with lodcore.Program() as program:
        ids = lodcore.data("ids", (None,), "i8", num_levels=1)
        bags = ops.embedding_bag(np.eye(3), ids, per_sample_weights=np.array([1.0, 2.0, 3.0]))
    assert bags.shape[1:] == (3,)
    (found,) = lodcore.Executor().run(program, {"ids": lodcore.array([[0, 2], [2]])}, [bags])
    assert values_of(found).tolist() == [[1, 0, 2], [0, 0, 3]]


@for_each(("width", "length"), [(1, 1), (1, 40), (3, 1), (70, 2), (1, 5000)])
def test_embedding_bag_of_ids_out_of_range_leaves_out_unchanged(width, length):
    """The numbers are checked first, or the result is made elsewhere, depending on which is larger."""
    table = np.ones((9, width), np.float32)
    numbers = np.zeros(3 * length, np.int64)
    numbers[-1] = 9
    ids = LoDTensor.from_lengths(numbers, [length, length, length])
    for out, call in (
        (np.full((3, width), 7, np.float32), lambda out: lodcore.embedding_bag(table, ids, out=out)),
        (np.full((3, width), 7, np.float32), lambda out: lodcore.embedding_bag(table, ids, "max", out=out)),
        (
            np.full((3, width), 7, np.float32),
            lambda out: lodcore.embedding_bag(table, ids, per_sample_weights=np.ones(3 * length, np.float32), out=out),
        ),
        (np.full((3 * length, width), 7, np.float32), lambda out: lodcore.lookup_table(table, numbers, out=out)),
    ):
        with pytest.raises(IndexError, match=r"ids: .*is 9"):
            call(out)
        assert (out == 7).all()
    numbers[-1] = 8
    ids = LoDTensor.from_lengths(numbers, [length, length, length])
    assert (lodcore.embedding_bag(table, ids, out=out[:3]) == length).all()
