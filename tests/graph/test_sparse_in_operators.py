"""A SparseTensor is kept, or refused by the name of the called operator: it never becomes dense silently."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lodcore
from lodcore import DenseTensor, DTypeError, LoD, LoDError, LoDTensor, SparseTensor, TensorArray, map_fn, vjp
from lodcore.graph import Program, VarArray
from lodcore.graph import data as declared
from lodcore.operators import roles
from lodcore.operators.registry import OPS
from lodcore.operators.roles import spec_of
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import WHILE_RECORDING
from tests.samples import SAMPLES

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

SPARSE = SparseTensor([2, 0], np.ones((2, 3)), 4)


def is_same(found):
    return isinstance(found, SparseTensor) and np.array_equal(found.to_dense(), SPARSE.to_dense())


#: Calls of functions that are no operators, and of one operator, with the names in their errors.
CALLS = {
    "TensorArray.write": (lambda x: written(x), "tensor_array_write"),
    "TensorArray.unstack": (lambda x: TensorArray.unstack(x), "tensor_array_unstack"),
    "TensorArray(unstack_from)": (
        lambda x: TensorArray(unstack_from=x),
        r"TensorArray|tensor_array_unstack|tensor_array_new",
    ),
    "VarArray.segment": (
        lambda x: VarArray().segment(x),
        r"VarArray\.segment|tensor_array_unstack",
    ),
    "map_fn": (lambda x: map_fn(lambda row: row, x), "map_fn"),
    "mul": (lambda x: lodcore.mul(x, 2.0), "mul"),
}
#: Constructors of tensors are called only outside of Programs.
MAKERS = {
    "DenseTensor": (lambda x: DenseTensor(x), "DenseTensor"),
    "LoDTensor": (lambda x: LoDTensor(x, LoD.from_lengths([4])), "LoDTensor"),
    "LoDTensor.from_lengths": (lambda x: LoDTensor.from_lengths(x, [4]), "LoDTensor"),
    "array": (lambda x: lodcore.array([x]), r"(lodcore\.)?array"),
}


def written(x):
    array = TensorArray()
    array.write(0, x)
    return array.read(0)


def assert_kept_or_refused(call, x, by):
    """Either the same SparseTensor is returned, as an element or as the result, or it is refused by name."""
    try:
        found = call(x)
    except DTypeError as error:
        message = str(error).split("step 0: ")[-1]
        assert "SparseTensor" in message
        assert message.startswith(tuple(by.replace("\\", "").split("|"))), message
        assert "operand" not in message
        return
    kind = found.spec.kind if hasattr(found, "spec") else type(found)
    assert kind in (SparseTensor, object), f"became {kind.__name__}"  # an element's kind is known when it is read
    assert hasattr(found, "spec") or is_same(found)


@pytest.mark.parametrize("recording", WHILE_RECORDING)
@pytest.mark.parametrize("name", CALLS)
def test_operators_keep_a_sparse_tensor_or_refuse_it_by_their_name(name, recording):
    call, by = CALLS[name]
    WHILE_RECORDING[recording](lambda: assert_kept_or_refused(call, SPARSE, by))


@pytest.mark.parametrize("name", CALLS)
def test_operators_under_vjp_and_in_programs_keep_or_refuse_a_sparse_tensor(name):
    call, by = CALLS[name]
    vjp(lambda x: [assert_kept_or_refused(call, x, by), None][1], SPARSE)
    with Program():
        assert_kept_or_refused(call, declared("x", spec_of(SPARSE)), by)


@pytest.mark.parametrize("name", MAKERS)
def test_constructors_refuse_a_sparse_tensor(name):
    call, by = MAKERS[name]
    with pytest.raises((DTypeError, LoDError), match=f"^{by}.*SparseTensor"):
        call(SPARSE)


@pytest.mark.parametrize("name", sorted(SAMPLES))
@settings(max_examples=1, database=None)
@given(data=st.data())
def test_every_operator_refuses_a_sparse_tensor_with_one_text(name, data):
    """For each argument that may be a tensor: computed at once, under `vjp` and in a Program."""
    op = OPS[name]
    call = data.draw(SAMPLES[name].calls)
    arguments = dict(zip(op.parameters, call.args, strict=False)) | call.kwargs
    for place, role in op.roles.items():
        if role is roles.Element:  # it may be a SparseTensor
            continue

        def run(x, place=place, role=role):
            op(**(arguments | {place: [x] if role in roles.LISTS else x}))

        messages = {
            "at once": message_of(lambda run=run: run(SPARSE)),
            "vjp": message_of(lambda run=run: vjp(run, SPARSE)),
            "Program": message_of(lambda run=run: in_program(run)),
        }
        assert len(set(messages.values())) == 1, messages
        assert "SparseTensor" in messages["at once"]


def message_of(call):
    with pytest.raises(DTypeError) as caught:
        call()
    return str(caught.value)


def in_program(run):
    with Program():
        run(declared("x", spec_of(SPARSE)))


@for_each("name", sorted(SAMPLES))
def test_the_docstring_of_every_operator_says_that_it_refuses_it(name):
    doc = OPS[name].__doc__
    assert "SparseTensor" in doc
    assert doc.count("Raises\n") == 1, "one section tells all errors"


@pytest.mark.parametrize("thing", [map_fn, DenseTensor, LoDTensor, TensorArray, VarArray.segment, TensorArray.unstack])
def test_docstrings_of_constructors_name_sparse_tensors(thing):
    assert "SparseTensor" in thing.__doc__
