"""Tensors with other memory layouts: the results are the same."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, SparseTensor, TensorArray, vjp
from lodcore.operators.registry import OPS
from lodcore.testing import rules
from lodcore.testing.samples import bits, elements_of, floats_of, fresh, sample_of, several, with_tensors
from tests.helpers.draw import at_most
from tests.helpers.tables import for_each
from tests.samples import SAMPLES

pytestmark = pytest.mark.not_on_reference  # operands reach all kernels as the same arrays


def foreign(x):
    """Make an array of the other byte order."""
    return x.astype(x.dtype.newbyteorder())


def unaligned(x):
    """Make an array that starts one byte after an aligned address."""
    memory = np.zeros(x.nbytes + 1, np.uint8)
    made = memory[1:].view(x.dtype).reshape(x.shape)
    made[...] = x
    return made


def apart(x):
    """Make an array of every second row of a larger one."""
    if not x.ndim:
        return x
    memory = np.zeros((2 * x.shape[0], *x.shape[1:]), x.dtype)
    memory[::2] = x
    return memory[::2]


def backwards(x):
    """Make an array with reversed axes and negative strides."""
    return np.asfortranarray(x)[::-1].copy("K")[::-1] if x.ndim else x


LAYOUTS = [foreign, unaligned, apart, backwards]


def outcome(op, sample):
    """Run a call: return its result in native byte order, or its error."""
    given = fresh(sample)
    try:
        with np.errstate(all="ignore"):
            result = op(*given.args, **given.kwargs)
    except Exception as error:
        return type(error), str(error)
    return bits([native(x) for x in several(result)])


def native(x):
    if isinstance(x, LoDTensor):
        return LoDTensor(native(x.values), x.lod)
    if isinstance(x, np.ndarray):
        return x.astype(x.dtype.newbyteorder("="))
    return list(map(native, elements_of(x))) if isinstance(x, TensorArray) else x


def laid_out(sample, layout):
    """Return the same call with other memory of its read-only tensors."""

    def replace(x):
        if isinstance(x, TensorArray):
            return x
        made = layout(x.values if isinstance(x, LoDTensor) else x)
        made.flags.writeable = False
        return LoDTensor(made, x.lod) if isinstance(x, LoDTensor) else made

    return with_tensors(sample, replace)


@pytest.mark.parametrize("name", sorted(SAMPLES))
@at_most(12)
@given(data=st.data())
def test_inputs_of_any_memory_layout_give_the_same_results(name, data):
    op, sample = OPS[name], sample_of(data.draw(SAMPLES[name].calls))
    assume(name != "numpy_call" or not sample.args[2].get("optimize"))  # NumPy's products see memory layouts
    layout = data.draw(st.sampled_from(LAYOUTS))
    assert outcome(op, laid_out(sample, layout)) == outcome(op, sample)


def gradients(op, sample):
    """Return the bits of the gradients of a call, which have the dtypes of what they belong to."""
    given = floats_of(sample)
    result, pullback = vjp(rules.function_of(op, sample), *given)
    made = pullback(*rules.cotangents_of(result))
    for x, d in zip(given, made, strict=True):
        assert d.dtype == x.dtype or isinstance(d, SparseTensor)
    return bits([native(x) for x in made])


@pytest.mark.parametrize("name", sorted(name for name in SAMPLES if SAMPLES[name].smooth is not None))
@at_most(8)
@given(data=st.data())
def test_inputs_of_any_memory_layout_have_the_same_gradients(name, data):
    op, sample = OPS[name], sample_of(data.draw(SAMPLES[name].smooth))
    layout = data.draw(st.sampled_from(LAYOUTS))
    assert gradients(op, laid_out(sample, layout)) == gradients(op, sample)


@pytest.mark.parametrize("name", sorted(name for name in SAMPLES if OPS[name].takes_out))
@at_most(20)
@given(data=st.data())
def test_out_of_any_memory_layout_is_written_or_refused(name, data):
    op, sample = OPS[name], sample_of(data.draw(SAMPLES[name].calls))
    sample = sample._replace(kwargs={key: x for key, x in sample.kwargs.items() if key != "out"})
    result = several(op(*sample.args, **sample.kwargs))[0]
    if isinstance(result, TensorArray):
        result = result.untouched_source
    wanted = result.values if isinstance(result, LoDTensor) else np.asarray(result)
    out = data.draw(st.sampled_from(LAYOUTS))(np.zeros_like(wanted))
    before = out.tobytes()
    try:
        op(*sample.args, **sample.kwargs, out=out)
    except (TypeError, ValueError) as error:
        assert "out: " in str(error)  # noqa: PT017  the result is compared below
        assert out.tobytes() == before
    else:
        np.testing.assert_array_equal(out, wanted)


@for_each("dtype", ["f8", "i2", "c8", "U2"])
def test_dense_rows_of_any_memory_order_give_the_same_results(dtype):
    dense = np.arange(24).astype(dtype).reshape(6, 4)
    table = lodcore.lod_rank_table([[1]] * 2 + [[1, 2]] + [[]])
    for x in (
        np.asfortranarray(dense),
        dense[::-1],
        dense[:, ::2],
        dense[::2],
        dense.T,
        dense.T[::-1, 1:3],
        dense[:, 0],
    ):
        wanted = np.ascontiguousarray(x)
        assert lodcore.gather_nested(x, [2, 0, -1]).tolist() == wanted[[2, 0, -1]].tolist()
        assert lodcore.gather_nested(x, [[2], [0, 1]]).tolist() == [wanted[[2]].tolist(), wanted[[0, 1]].tolist()]
        assert lodcore.gather_nested(x, [2, 0, 2], default=wanted[1]).tolist() == wanted[[2, 0, 2]].tolist()
        mask = np.arange(len(x)) % 3 == 0
        assert lodcore.split_by_mask(x, mask)[0].tolist() == wanted[mask].tolist()
        assert lodcore.lod_reset(x, target_lod=[0, len(x)]).tolist() == [wanted.tolist()]
        if len(x) > 3:
            assert lodcore.reorder_by_rank(x[:4], table).tolist() == wanted[table.indices].tolist()
