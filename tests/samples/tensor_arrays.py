"""Samples of the operators of TensorArray, whose elements are tensors."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError, TensorArray
from lodcore.tensors.tensor import Spec
from reference.ops import tensor_arrays as oracle
from reference.ops.levels import each_at_level, sequences
from tests.helpers.agree import elements_of, from_the_first, numbered, of_elements
from tests.helpers.draw import ROW_SHAPES, composite, integers, lod_tensors, sampled_from, values
from tests.samples import Samples, call
from tests.samples.expand import FLOAT, NARROW, PLAIN, lods_of, tame, tensors_of

LEVELS = st.integers(0, 2)


# -- arrays --------------------------------------------------------------------------------------------------------


def listed(array):
    """Return the elements of an array as nested lists, None for holes."""
    return [element if element is None else element.tolist() for element in elements_of(array)]


@composite
def arrays(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES, holes=True, least=0):
    """Draw an array whose elements were cut from a tensor, written, or both."""
    num_levels, shape = draw(LEVELS), draw(sampled_from(row_shapes))
    dtype = draw(sampled_from(dtypes))
    one = tensors_of(draw(integers(0, 3)), num_levels, [dtype], [shape])
    count = draw(integers(least, 3))
    if draw(st.booleans()):
        array = TensorArray(unstack_from=draw(tensors_of(count, num_levels + 1, [dtype], [shape])))
        places = draw(st.lists(st.integers(0, count + 1 if holes else count), max_size=2, unique=True))
    else:
        array = TensorArray(count)
        places = [at for at in range(count) if not holes or draw(st.booleans())]
    for at in places:
        array.write(at, draw(one))
    return array


def number(at):
    """Draw one of the forms of an index."""
    return st.sampled_from([int, np.int16, np.array, lambda at: np.array([at])]).map(lambda form: form(at))


# -- one element ---------------------------------------------------------------------------------------------------


@composite
def write_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES, holes=True):
    array = draw(arrays(dtypes, row_shapes, holes, least=1 - holes))
    elements = [element for element in elements_of(array) if element is not None]
    like = elements[0] if elements else draw(values(2, dtypes, row_shapes))
    x = draw(
        tensors_of(
            2,
            getattr(like, "num_levels", 0),
            [like.dtype],
            [like.values.shape[1:] if hasattr(like, "lod") else like.shape[1:]],
        )
    )
    at = draw(integers(0, array.size() + 2 if holes else array.size()))
    return call(array, draw(number(at)), x, *draw(sampled_from([[], [True], [False]])))


def with_one_written(arguments):
    elements, at = listed(arguments["ta"]), int(np.reshape(arguments["index"], ()))
    elements += [None] * (at + 1 - len(elements))
    elements[at] = arguments["x"].tolist()
    return elements


@composite
def read_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    array = draw(
        arrays(dtypes, row_shapes, least=1).filter(lambda array: any(e is not None for e in elements_of(array)))
    )
    found = [at for at, element in enumerate(elements_of(array)) if element is not None]
    index = draw(number(draw(sampled_from(found))))
    if draw(st.booleans()):
        return call(array, index)
    default = array.read(index)
    default = LoDTensor(default.values.copy(), default.lod) if isinstance(default, LoDTensor) else default.copy()
    return call(array, draw(sampled_from([index, -1, np.array([-3])])), default)


def read(arguments):
    index = int(np.reshape(arguments["index"], ()))
    return arguments["default"].tolist() if index < 0 else listed(arguments["ta"])[index]


# -- construction and filling ------------------------------------------------------------------------------------------


@composite
def new_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES, filled=False):
    if not filled and draw(st.booleans()):
        return call(draw(number(draw(integers(0, 3)))), draw(st.booleans()))
    x = draw(tensors_of(draw(integers(0, 3)), draw(LEVELS), dtypes, row_shapes))
    return call(draw(sampled_from([None, len(x), len(x) + 1])), True, x)


def newly_made(arguments):
    elements = [] if arguments["unstack_from"] is None else list(arguments["unstack_from"].tolist())
    count = len(elements) if arguments["size"] is None else int(np.reshape(arguments["size"], ()))
    return elements + [None] * (count - len(elements))


@composite
def fill_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES, holes=True):
    filled = draw(arrays(dtypes, row_shapes, holes))
    return call(TensorArray(draw(sampled_from([None, 0, filled.size(), filled.size() + 1]))), filled)


def filled_up(arguments):
    elements = listed(arguments["filled"])
    return elements + [None] * (arguments["ta"].size() - len(elements))


# -- sizes ---------------------------------------------------------------------------------------------------------


def extent(nested, axis):
    """Count the entries along an axis, none before which is empty."""
    return len(nested) if axis == 0 else extent(nested[0], axis - 1)


@composite
def sizes_calls(draw):
    array = draw(arrays(row_shapes=[(), (3,), (2, 0)], holes=False))
    ndim = array.read(0).ndim if array.size() else 1
    seen = all(len(element) for element in listed(array))
    dense = array.size() and isinstance(array.read(0), np.ndarray)
    return call(array, draw(integers(-ndim, ndim - 1))) if dense and seen else call(array)


def sizes(arguments):
    elements = arguments["ta"]
    axis = arguments["axis"]
    return [extent(element.tolist(), axis if axis >= 0 else axis + element.ndim) for element in elements]


# -- all together --------------------------------------------------------------------------------------------------


@composite
def joining_calls(draw, stacked, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    """Draw an array and an axis along which it may be stacked, or concatenated."""
    num_levels, dtype, shape = draw(LEVELS), draw(sampled_from(dtypes)), draw(sampled_from(row_shapes))
    axes = len(shape) + 1 + stacked
    axis = draw(integers(0, axes - 1))
    lod = draw(lods_of(draw(integers(0, 3)), num_levels))

    def one():
        size = list(shape)
        if not stacked and axis:
            size[axis - 1] = draw(integers(0, 2))
        if axis == 0 and (num_levels or not stacked):
            return draw(tensors_of(draw(integers(0, 3)), num_levels, [dtype], [shape]))
        rows = draw(values(lod.num_rows, [dtype], [tuple(size)]))
        return LoDTensor(rows, lod) if num_levels else rows

    array = of_elements([one() for _ in range(draw(integers(1, 3)))])
    return call(array, axis if axis == 0 or draw(st.booleans()) else axis - axes)


def joined(join, stacked):
    def expected(arguments):
        elements, axis = list(arguments["ta"]), arguments["axis"]
        levels = getattr(elements[0], "num_levels", 0)
        axis += np.ndim(getattr(elements[0], "values", elements[0])) + stacked if axis < 0 else 0
        return join([element.tolist() for element in elements], axis + levels if axis else 0)

    return expected


@composite
def unstack_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    x = draw(tensors_of(draw(integers(0, 3)), draw(LEVELS), dtypes, row_shapes))
    return call(x, draw(integers(-x.ndim, x.ndim - 1))) if isinstance(x, np.ndarray) else call(x)


def unstacked(arguments):
    x = arguments["x"]
    axis = arguments["axis"] % x.ndim
    nested = x.tolist()
    if axis and 0 in x.shape[:axis]:  # the lists end before that axis
        return [nested] * x.shape[axis]
    return oracle.unstack(nested, axis)


@composite
def result_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    """Draw the result of a mapped function: sequences, or entries of one shape."""
    array, axis = draw(joining_calls(True, dtypes, row_shapes).filter(lambda drawn: drawn.args[1] == 0)).args
    first = array.read(axis)
    if isinstance(first, LoDTensor) or draw(st.booleans()):
        if not isinstance(first, LoDTensor) and first.ndim == 0:
            first = np.zeros(1, first.dtype)
        rows = getattr(first, "values", first)
        spec = Spec((None, *rows.shape[1:]), rows.dtype, getattr(first, "num_levels", 0) + 1, LoDTensor)
    else:
        spec = Spec((None, *first.shape), first.dtype, 0, np.ndarray)
    return call(TensorArray() if draw(st.booleans()) else array, spec, spec.num_levels > 0)


# -- sequences to steps and back -----------------------------------------------------------------------------------


@composite
def unpack_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    x = draw(lod_tensors(max_levels=3, dtypes=dtypes, row_shapes=row_shapes, most=5))
    return call(x, draw(integers(-x.num_levels, x.num_levels - 1)), *draw(sampled_from([[], [True], [False]])))


def unpacked(arguments):
    nested, level = arguments["x"].tolist(), from_the_first(arguments["level"], arguments["x"].lod)
    by_length = arguments["sort_by_length"]
    return oracle.unpack(nested, level, by_length), oracle.indices_map(numbered(arguments["x"].lod), level, by_length)


@composite
def pack_calls(draw, dtypes=PLAIN, row_shapes=ROW_SHAPES):
    drawn = draw(unpack_calls(dtypes, row_shapes))
    steps, indices_map = TensorArray.unpack(*drawn.args)
    if steps.size() and draw(st.booleans()):
        steps = of_elements(list(steps))
    chosen = draw(sampled_from([indices_map, indices_map.rank]))
    return call(steps, draw(sampled_from([drawn.args[1], indices_map.level])), chosen)


def packed(arguments):
    indices_map = arguments["indices_map"]
    indices_map = getattr(indices_map, "indices_map", indices_map)  # for a RankTable
    places = indices_map.tolist()
    elements = [element for step in listed(arguments["ta"]) for element in step]
    following = iter([element for _, element in sorted(zip(places, elements, strict=True), key=lambda pair: pair[0])])
    nested, level = numbered(indices_map.lod), indices_map.level
    made = [[next(following) for _ in sequence] for sequence in sequences(nested, level)]
    return each_at_level(made, nested, level)


def rank_calls():
    return unpack_calls().map(lambda drawn: call(TensorArray.unpack(*drawn.args)[0]))


@composite
def pairs_of_arrays(draw):
    array = draw(arrays())
    return call(array, TensorArray(array.size()), 1)


COSTS = """
ops.tensor_array_stack(ops.tensor_array_unstack(w.values))
ops.tensor_array_concat(ops.tensor_array_unpack(x, 0)[0])
ops.tensor_array_sizes(ops.tensor_array_unpack(x, 0)[0])
ops.tensor_array_size(ops.tensor_array_unpack(x, 0)[0])
ops.tensor_array_pack(*(lambda steps, places: (steps, 0, places))(*ops.tensor_array_unpack(x, 0)))
[ops.tensor_array_read(steps, j) for steps in [ops.tensor_array_unpack(x, 0)[0]] for j in range(len(steps))]
[ops.tensor_array_write(array, j, v[:1]) for array in [TensorArray()] for j in range(n)]
ops.tensor_array_unstack(w.values)
"""
SAMPLES = {
    "tensor_array_new": Samples(
        new_calls(),
        newly_made,
        new_calls(FLOAT, NARROW, filled=True).map(tame),
        [
            ("OPS['tensor_array_new'](-1)", IndexError, "size.*-1"),
            ("OPS['tensor_array_new'](1.5)", DTypeError, "size.*1.5"),
            ("OPS['tensor_array_new'](None, False)", ValueError, "size: is missing"),
            ("OPS['tensor_array_new'](1, True, [[1], [2]])", ValueError, "size: is 1.*2 entries"),
        ],
    ),
    "tensor_array_fill": Samples(
        fill_calls(),
        filled_up,
        fill_calls(FLOAT, NARROW, holes=False).filter(lambda drawn: drawn.args[1].size()).map(tame),
        [
            ("OPS['tensor_array_fill'](steps, steps)", ValueError, "has 3 elements that were written"),
            ("OPS['tensor_array_fill'](fixed, steps)", ValueError, "fixed at 2; 3 elements"),
        ],
    ),
    "tensor_array_rank": Samples(
        rank_calls(),
        lambda arguments: arguments["ta"].rank.tolist(),
        None,
        [("OPS['tensor_array_rank'](with_hole)", LoDError, "not made by unpack")],
    ),
    "tensor_array_write": Samples(
        write_calls(),
        with_one_written,
        write_calls(FLOAT, NARROW, holes=False).map(tame),
        [
            ("tensor_array_write(steps, -1, [1])", IndexError, "index.*-1"),
            ("tensor_array_write(steps, 1.0, [1])", DTypeError, "index.*1.0"),
            ("tensor_array_write(fixed, 2, [1])", IndexError, "index.*2.*fixed at 2"),
            ("tensor_array_write(steps, 0, objects)", DTypeError, "tensor_array_write: x: has dtype object"),
            ("tensor_array_write(steps, 0, [[1, 2], [3]])", ShapeError, "x.*unevenly"),
            ("tensor_array_write([], 0, 1)", DTypeError, "tensor_array_write: ta: is list"),
        ],
    ),
    "tensor_array_read": Samples(
        read_calls(),
        read,
        read_calls(FLOAT, NARROW).map(tame),
        [
            ("tensor_array_read(steps, 3)", IndexError, "index.*3.*3"),
            ("tensor_array_read(steps, -1)", IndexError, "index.*-1"),
            ("tensor_array_read(with_hole, 0)", IndexError, "index.*0, a hole"),
            ("tensor_array_read(steps, None)", DTypeError, "index.*None"),
            ("tensor_array_read(steps, -1, SparseTensor([0], [[1.0]], 2))", DTypeError, "default: .*SparseTensor"),
            ("tensor_array_read(steps, 3, 0)", IndexError, "index.*3.*3"),
            ("tensor_array_read(with_hole, 0, 0)", IndexError, "index.*0, a hole"),
            ("tensor_array_read(flat, 0)", DTypeError, "tensor_array_read: ta: is LoDTensor"),
        ],
    ),
    "tensor_array_size": Samples(
        arrays().map(call),
        lambda arguments: len(listed(arguments["ta"])),
        None,
        [
            ("tensor_array_size()", TypeError, "ta"),
            ("tensor_array_size(3)", DTypeError, "tensor_array_size: ta: is int"),
        ],
    ),
    "tensor_array_sizes": Samples(
        sizes_calls(),
        sizes,
        None,
        [
            ("ops.tensor_array_sizes(with_hole)", IndexError, "index.*0, a hole"),
            ("ops.tensor_array_sizes(steps, 1)", IndexError, "axis.*1.*element 0"),
            ("ops.tensor_array_sizes(3)", DTypeError, "tensor_array_sizes: ta: is int"),
        ],
    ),
    "tensor_array_stack": Samples(
        joining_calls(True),
        joined(oracle.stack, True),
        joining_calls(True, FLOAT, NARROW).map(tame),
        [
            ("tensor_array_stack(with_hole)", IndexError, "index.*0, a hole"),
            ("tensor_array_stack(mixed)", LoDError, "element 1"),
            ("tensor_array_stack(uneven)", ShapeError, "element 1"),
            ("tensor_array_stack([1, 2])", DTypeError, "tensor_array_stack: ta: is list; a TensorArray"),
        ],
    ),
    "tensor_array_concat": Samples(
        joining_calls(False),
        joined(oracle.concat, False),
        joining_calls(False, FLOAT, NARROW).map(tame),
        [
            ("tensor_array_concat(with_hole)", IndexError, "index.*0, a hole"),
            ("tensor_array_concat(mixed)", LoDError, "element 1"),
            ("tensor_array_concat(pair, 1)", ShapeError, "axis.*1"),
            ("tensor_array_concat(None)", DTypeError, "tensor_array_concat: ta: is NoneType"),
        ],
    ),
    "tensor_array_unstack": Samples(
        unstack_calls(),
        unstacked,
        unstack_calls(FLOAT, NARROW).map(tame),
        [
            ("tensor_array_unstack(rows, 1)", ShapeError, "axis.*1.*1"),
            ("tensor_array_unstack(flat, 1)", ShapeError, "axis.*1"),
            ("tensor_array_unstack(objects)", DTypeError, "x.*object"),
        ],
    ),
    "map_fn_results": Samples(
        result_calls(),
        lambda arguments: listed(arguments["ta"]),
        result_calls(FLOAT, NARROW).filter(lambda drawn: drawn.args[0].size()).map(tame),
        [
            (
                "OPS['map_fn_results'](with_hole, Spec((None,), 'i8', 1), 1)",
                IndexError,
                "index.*0, a hole",
            )
        ],
    ),
    "map_fn_size": Samples(
        pairs_of_arrays(),
        lambda arguments: arguments["ta"].size(),
        None,
        [
            (
                "OPS['map_fn_size'](pair, TensorArray(3), 1)",
                ShapeError,
                r"x\[1\]: has 3 entries; x\[0\] has",
            ),
            ("OPS['map_fn_size'](pair, rows, 1)", DTypeError, "other: is ndarray"),
        ],
    ),
    "tensor_array_unpack": Samples(
        unpack_calls(),
        unpacked,
        unpack_calls(FLOAT, NARROW).map(tame),
        [
            ("tensor_array_unpack(x, 2)", LevelError, "level.*2.*2"),
            ("tensor_array_unpack(rows, 0)", DTypeError, "x.*ndarray"),
        ],
    ),
    "tensor_array_pack": Samples(
        pack_calls(),
        packed,
        pack_calls(FLOAT, NARROW).filter(lambda drawn: drawn.args[0].size()).map(tame),
        [
            ("tensor_array_pack(steps, 1, steps_map)", LevelError, "level.*1"),
            ("tensor_array_pack(steps, 0, inner_map)", LoDError, "indices_map"),
            ("tensor_array_pack([], 0, steps_map)", DTypeError, "tensor_array_pack: ta: is list"),
            ("tensor_array_pack(inner_steps, 1, inner_map)", LoDError, "level: is 1; the map is of level 0"),
        ],
    ),
}
