"""append_backward: the kinds of gradients, in Specs as in runs."""

import io

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, SparseTensor, nn, ops, value_and_grad
from lodcore.graph import Executor, Program, append_backward, data, parameter, while_loop

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

TABLE = np.arange(10.0).reshape(5, 2) / 10
IDS = lodcore.array([[1, 2], [], [4, 1]])


def looked_up(table, ids):
    return ops.sum(lodcore.lookup_table(table, ids).values ** 2) + ops.sum(lodcore.embedding_bag(table, ids))


def read_besides(table, ids):
    return looked_up(table, ids) + ops.sum(table)


def in_a_loop(table, ids):
    loop = while_loop()
    with loop.loop():
        t, total = loop.loop_var(0), loop.loop_var(0.0)
        loop.break_if(t >= 2)
        total.update(total + looked_up(table, ids))
    return total


def test_the_gradient_of_a_table_that_is_only_looked_up_has_the_kind_of_a_sparse_tensor():
    for loss, kind in ((looked_up, SparseTensor), (read_besides, np.ndarray), (in_a_loop, np.ndarray)):
        with Program() as program:
            table, ids = parameter(TABLE, "table"), data("ids", (None,), "int64", num_levels=1)
            (gradient,) = append_backward(loss(table, ids), parameters=[table])
            dense = gradient.to_dense()
            decayed = lodcore.mul(dense + 0.5 * table, 1.0, name="decayed")
            clipped, _ = nn.clip_by_global_norm([gradient], 1.0)
            nn.SGD(0.1).step([table], clipped)
        assert gradient.spec.kind is kind
        assert dense.spec == table.spec
        file = io.BytesIO()
        lodcore.save(file, program)
        kept = lodcore.load(io.BytesIO(file.getvalue()))
        wanted = value_and_grad(lambda table, loss=loss: loss(table, IDS))(TABLE)[1]
        wanted = wanted.to_dense() if isinstance(wanted, SparseTensor) else wanted
        for run, fetch in ((program, [gradient, dense, decayed]), (kept, ["table@GRAD", dense.name, "decayed"])):
            found = Executor().run(run, {"ids": IDS}, fetch)
            assert kind is np.ndarray or isinstance(found[0], SparseTensor)
            np.testing.assert_array_equal(found[1], wanted)
            np.testing.assert_array_equal(found[2], wanted + 0.5 * TABLE)


def test_an_operator_refuses_rows_of_a_table_when_it_is_recorded():
    with Program():
        table = parameter(TABLE, "table")
        (gradient,) = append_backward(looked_up(table, IDS), parameters=[table])
        with pytest.raises(DTypeError, match=r"mul: x: is a SparseTensor; to_dense\(\) makes an array of it"):
            gradient * 2.0
        with pytest.raises(DTypeError, match=r"to_dense: x: is a LoDTensor; to_padded\(\) makes an array of it"):
            data("x", (None,), num_levels=1).to_dense()


def test_to_dense_of_variables_with_values():
    rows = SparseTensor([2, 0, 2], np.ones((3, 2)), 4)
    found, pullback = lodcore.vjp(lambda x: x.to_dense() * 2.0, np.ones(3))
    assert found.tolist() == [2.0, 2.0, 2.0]
    assert pullback(np.ones(3))[0].tolist() == [2.0, 2.0, 2.0]
    np.testing.assert_array_equal(lodcore.graph.Variable("rows", rows).to_dense(), rows.to_dense())
