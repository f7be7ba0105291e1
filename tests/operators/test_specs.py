"""Shape rules of Specs that the samples do not make: unknown sizes of matrices, and wrong arguments next to tensors."""

import itertools
import re

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDTensor, TensorArray
from lodcore.operators.registry import OPS
from lodcore.operators.roles import NO_ELEMENTS
from lodcore.tensors.tensor import Spec

pytestmark = pytest.mark.not_on_reference  # no kernels


def spec(shape, dtype="f8", levels=0, kind=None):
    return Spec(shape, np.dtype(dtype), levels, kind or (LoDTensor if levels else np.ndarray))


SHAPES = [(3,), (2, 3), (1, 2, 3), (4, 2, 3), (4, 1, 2, 3), (1, 1, 2, 3)]
OTHERS = [(3,), (3, 5), (1, 3, 5), (4, 3, 5), (2, 4, 3, 5), (2, 1, 3, 5)]


@pytest.mark.parametrize(("left", "right"), [*itertools.product(SHAPES, OTHERS)])
def test_products_of_matrices_have_numpys_shape(left, right):
    """Also if one size is unknown: then each size of the result is None, or correct."""
    x, y = np.ones(left), np.ones(right)
    try:
        wanted = np.matmul(x, y).shape
    except ValueError:
        with pytest.raises(lodcore.ShapeError):
            lodcore.matmul(x, y)
        return
    assert np.shape(lodcore.matmul(x, y)) == wanted
    assert OPS["matmul"].infer(spec(left), spec(right)).shape == wanted
    for at in range(len(left) + len(right)):
        sizes = [None if j == at else size for j, size in enumerate(left + right)]
        found = OPS["matmul"].infer(spec(tuple(sizes[: len(left)])), spec(tuple(sizes[len(left) :]))).shape
        assert len(found) == len(wanted)
        assert all(a in (None, b) for a, b in zip(found, wanted, strict=True))
        assert sum(a is None for a in found) <= 1


SCORES, LINES = spec((None, 4), levels=1), spec((None,), "i8")
STEPS = [spec((None,), dtype, 2, TensorArray) for dtype in ("i8", "f8")]
KNOWN = [  # calls whose Specs have unknown sizes, and the known sizes of the results
    ("beam_search", (LINES, spec((None,)), spec((None, None), "i8"), SCORES, 2, 0), [("i8", 2), ("f8", 2), ("i4", 0)]),
    ("beam_search", (LINES, spec((None,)), spec((5, 4), "i8"), SCORES, 2, 0), [("i8", 2), ("f8", 2), ("i4", 0)]),
    (
        "beam_search",
        (LINES, spec((None,)), spec((5, 4), "u2"), spec((None, None), "f4", 1), 2, 0),
        [("u2", 2), ("f4", 2), ("i4", 0)],
    ),
    ("beam_search_decode", (*STEPS, 2, 0), [("i8", 2), ("f8", 2)]),
]
ROWS = spec((None, 3, 4, 2), levels=1)
PICKED = [  # shapes of vectors that index two axes of rows together, and of the rows that are picked
    ([(None,), (3,)], (3, 2)),
    ([(3,), (None,)], (3, 2)),
    ([(None,), (1,)], (None, 2)),
    ([(2, 1), (1, None)], (2, None, 2)),
    ([(), (5,)], (5, 2)),
]


@pytest.mark.parametrize(("shapes", "row"), PICKED)
def test_vectors_of_an_index_broadcast(shapes, row):
    keys = [slice(None), *(spec(shape, "i8") for shape in shapes)]
    assert OPS["index_values"].infer(ROWS, keys).shape == (None, *row)


@pytest.mark.parametrize(("name", "gates"), [("dynamic_gru", 3), ("dynamic_lstm", 4)])
def test_the_width_of_states_follows_from_any_known_size_of_the_weights_or_of_the_inputs(name, gates):
    for known in itertools.product([False, True], repeat=3):
        rows, columns, inputs = (
            size if given else None for size, given in zip((5, 5 * gates, 5 * gates), known, strict=True)
        )
        found = OPS[name].infer(spec((None, inputs), levels=1), spec((rows, columns)))
        for one in [found] if isinstance(found, Spec) else found:
            assert one.shape == (None, 5 if any(known) else None), known
    with pytest.raises(lodcore.ShapeError, match=rf"weight: has shape \(None, None\); \(D, {gates} \* D\) is needed"):
        OPS[name].infer(spec((None, 5 * gates + 1), levels=1), spec((None, None)))


@pytest.mark.parametrize(("name", "given", "results"), KNOWN)
def test_specs_of_unknown_sizes_are_accepted(name, given, results):
    assert [(one.dtype, one.num_levels) for one in OPS[name].infer(*given)] == results


def test_concat_values_promotes_the_dtypes_of_all_parts():
    kinds = ["i1", "i2", "f4", "i8"]
    for count in (1, 2, 3, 4):
        wanted = np.result_type(*map(np.dtype, kinds[:count]))
        assert OPS["concat_values"].infer([spec((3, 2), one) for one in kinds[:count]], 1).dtype == wanted
        assert lodcore.ops.concat_values([np.ones((3, 2), one) for one in kinds[:count]], 1).dtype == wanted


@pytest.mark.parametrize("dtype", ["i1", "u2", "f2", "f4", "f8", "F", "D"])
@pytest.mark.parametrize("number", [2, 2.5, 2.5j])
def test_numbers_of_python_are_weak_in_programs_as_at_once(number, dtype):
    for name, function in (("add", np.add), ("mul", np.multiply), ("div", np.divide), ("minus", np.subtract)):
        x = np.ones(3, dtype)
        assert OPS[name].infer(spec((3,), dtype), number).dtype == function(x, number).dtype
        assert OPS[name].infer(number, spec((3,), dtype)).dtype == function(number, x).dtype
        assert getattr(lodcore, name, OPS[name])(x, number).dtype == function(x, number).dtype


def test_an_empty_list_is_an_index():
    dense = np.arange(6.0).reshape(3, 2)
    assert lodcore.ops.index_values(dense, [[]]).shape == (0, 2)
    assert lodcore.ops.index_values(dense, [slice(None), []]).shape == (3, 0)


@pytest.mark.parametrize("name", ["tensor_array_read", "tensor_array_stack", "tensor_array_concat"])
def test_spec_of_an_element_of_an_empty_array_is_unknown(name):
    assert OPS[name].infer(NO_ELEMENTS, 0).kind is object


WRONG = [  # calls that raise when they are recorded
    ("beam_search", (LINES, spec((None,)), spec((None, 3), "i8"), SCORES, 2, 0), lodcore.ShapeError, "ids: has shape"),
    ("beam_search", (LINES, spec((None,)), spec((None,), "i8"), SCORES, 2, 0), lodcore.ShapeError, "ids: has shape"),
    ("beam_search", (LINES, spec((None,)), spec((None, 4)), SCORES, 2, 0), DTypeError, "ids: has dtype float64"),
    ("beam_search", (LINES, spec((None,)), None, SCORES, 0, 0), ValueError, "beam_size: is 0"),
    ("beam_search", (LINES, spec((None,)), None, SCORES, 2, None), DTypeError, "end_id: is None"),
    ("beam_search_decode", (*STEPS, 0, 0), ValueError, "beam_size: is 0"),
    ("beam_search", (LINES, spec((None,)), None, SCORES, 2, 0, 1), lodcore.LevelError, "level: is 1; there is 1 level"),
    ("beam_search_decode", (*STEPS, 2, None), DTypeError, "end_id: is None"),
    ("beam_search_decode", (*STEPS[::-1], 2, 0), DTypeError, "ids_array: .* float64"),
    ("beam_search_decode", (STEPS[0], spec((None,), "f8", 1, TensorArray), 2, 0), lodcore.LoDError, "scores_array"),
    *[  # the third of several batches
        (
            name,
            ([spec((None, 2), levels=1)] * 2 + [spec((None, 2), "f4", 1)],),
            DTypeError,
            r"xs\[2\]: has dtype float32",
        )
        for name in ("concat_batches", "sequence_concat")
    ],
    *[
        (
            name,
            ([spec((None, 2), levels=1)] * 2 + [spec((None, 3), levels=1)],),
            lodcore.ShapeError,
            r"xs\[2\]: has rows",
        )
        for name in ("concat_batches", "sequence_concat")
    ],
    ("concat_values", ([spec((3, 2))] * 2 + [spec((4, 2))], 1), lodcore.ShapeError, r".*\(4, 2\)\]; only axis 1"),
    ("concat_values", ([spec((3, 2))] * 2 + [spec((3, 2), "M8[s]")], 1), DTypeError, r"xs\[2\]: .*no common one"),
    ("structure_of", (spec((None,), kind=LoDTensor), "lod"), lodcore.LevelError, "x: has no levels"),
]


FLAT = spec((None,), levels=1)
VECTORS = [  # calls with a vector, or one number for all, and the kinds of numbers that it may have
    ("sequence_roll", lambda v: (FLAT, v), "iu"),
    ("sequence_repeat", lambda v: (FLAT, v), "iu"),
    ("sequence_unflatten", lambda v: (FLAT, v), "iu"),
    ("pick_along", lambda v: (FLAT, v, 1), "iu"),
    ("split_by_mask", lambda v: (FLAT, v), "b"),
    ("merge_by_mask", lambda v: (FLAT, FLAT, v), "b"),
]


@pytest.mark.parametrize(("name", "call", "kinds"), VECTORS)
def test_vectors_and_numbers_are_checked_when_they_are_recorded(name, call, kinds):
    good = "?" if kinds == "b" else "u2"
    for shape in ((), (None,), (3,), (3, 1), (None, None), (0,)):
        OPS[name].infer(*call(spec(shape, good)))
        for dtype in ("f8", "U2", "i8" if kinds == "b" else "?"):
            if shape != (0,):
                with pytest.raises(DTypeError, match=f"{name}: .*has dtype {re.escape(str(np.dtype(dtype)))}"):
                    OPS[name].infer(*call(spec(shape, dtype)))
    for shape in ((3, 2), (None, 0), (3, 1, 1)):
        with pytest.raises(lodcore.ShapeError, match=rf"{name}: .*\(n,\) or \(n, 1\) is needed"):
            OPS[name].infer(*call(spec(shape, good)))


@pytest.mark.parametrize("mask", [(2, 3), (2, 3, 4), (2,)])
def test_index_by_a_mask_of_several_axes_drops_as_many(mask):
    x = np.arange(48.0).reshape(2, 3, 4, 2)
    keys = [np.ones(mask, bool), Ellipsis, 1]
    found = OPS["index_values"].infer(spec(x.shape), [spec(mask, "?"), *keys[1:]])
    wanted = lodcore.ops.index_values(x, keys).shape
    assert found.shape == (None, *wanted[1:])
    with pytest.raises(IndexError, match="too many indices"):
        OPS["index_values"].infer(spec((2, 3)), [spec((2, 3), "?"), 0])


@pytest.mark.parametrize(("name", "given", "error", "says"), WRONG)
def test_wrong_arguments_raise_when_they_are_recorded(name, given, error, says):
    with pytest.raises(error, match=f"{name}: {says}"):
        OPS[name].infer(*given)
