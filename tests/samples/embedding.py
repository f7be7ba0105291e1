"""Samples of table lookups and pooled lookups."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoDError, LoDTensor, ShapeError
from reference.nested import nest
from reference.ops import embedding as oracle
from tests.helpers.agree import offsets_of
from tests.helpers.draw import DTYPES, NUMBERS, ROW_SHAPES, composite, integers, lods, read_only, sampled_from, values
from tests.samples import Samples, call
from tests.samples.pool import POOL_TYPES, small_values

INTEGERS = [dtype for dtype in NUMBERS if dtype.kind in "iu"]
MOVED = [dtype for dtype in DTYPES if dtype.kind not in "MmcV"]


@composite
def numbers(draw, shape, height):
    """Draw row numbers, of any integer dtype."""
    random = np.random.default_rng(draw(integers(0, 2**32)))
    return read_only(random.integers(0, height, shape).astype(draw(sampled_from(INTEGERS))))


@composite
def ids_of(draw, height, dense):
    """Draw row numbers with a structure, or (if `dense`) perhaps without."""
    if dense and draw(st.booleans()):
        return draw(numbers(draw(sampled_from([(0,), (4,), (3, 1), (2, 3), (0, 2), ()])), height))
    lod = draw(lods(1, 3, 6))
    row_shape = draw(sampled_from([(), (1,), (2,)] if dense else [(), (1,)]))
    return LoDTensor(draw(numbers((lod.num_rows, *row_shape), height)), lod)


@composite
def lookups(draw):
    table = draw(values(draw(integers(1, 5)), MOVED, ROW_SHAPES))
    options = {}
    if draw(st.booleans()):
        options["padding_idx"] = draw(integers(-len(table), len(table) - 1))
    return call(table, draw(ids_of(len(table), dense=True)), **options)


def expected_lookup(arguments):
    table, ids, padding_idx = (arguments[name] for name in ("table", "ids", "padding_idx"))
    zeros = np.zeros((1, *table.shape[1:]), table.dtype)[0].tolist()
    padding_idx = None if padding_idx is None else padding_idx % len(table)
    given = ids.values if isinstance(ids, LoDTensor) else ids
    given = given[:, 0] if given.shape[1:] == (1,) else given
    levels = offsets_of(ids.lod) if isinstance(ids, LoDTensor) else []
    nested = nest(given.tolist(), levels) if given.ndim else [given.tolist()]
    found = oracle.lookup_table(table.tolist(), nested, len(levels) + max(given.ndim - 1, 0), zeros, padding_idx)
    return found if given.ndim else found[0]


@composite
def smooth_lookups(draw):
    table = draw(small_values(draw(integers(1, 5)), np.dtype("f8"), draw(sampled_from(ROW_SHAPES))))
    return call(table, draw(ids_of(len(table), dense=True)), padding_idx=draw(sampled_from([None, 0, -1])))


@composite
def bags(draw):
    pool_type = draw(sampled_from(POOL_TYPES))
    height, row_shape = draw(integers(1, 5)), draw(sampled_from(ROW_SHAPES))
    if pool_type in ("max", "min", "first", "last"):
        table = draw(values(height, NUMBERS, [row_shape]))
    else:
        table = draw(small_values(height, draw(sampled_from(NUMBERS)), row_shape))
    ids = draw(ids_of(height, dense=False))
    if pool_type == "sum" and table.dtype.kind != "c" and draw(st.booleans()):
        return call(
            table, ids, pool_type, per_sample_weights=draw(weights_of(ids, [np.dtype(kind) for kind in "fd?lB"]))
        )
    return call(table, ids, pool_type)


@composite
def weights_of(draw, ids, dtypes):
    """Draw a weight for each number: with their structure, as a vector, or as a column."""
    weights = draw(small_values(len(ids.values), draw(sampled_from(dtypes)), ()))
    way = draw(sampled_from(["nested", "vector", "column"]))
    return LoDTensor(weights, ids.lod) if way == "nested" else weights if way == "vector" else weights[:, None]


def expected_bag(arguments):
    table, ids, weights = (arguments[name] for name in ("table", "ids", "per_sample_weights"))
    zeros = np.zeros((1, *table.shape[1:]), table.dtype)[0].tolist()
    nested = nest(ids.values.reshape(-1).tolist(), offsets_of(ids.lod))
    if weights is not None:
        flat = (weights.values if isinstance(weights, LoDTensor) else weights).reshape(-1)
        factors = nest(flat.astype("f8").tolist(), offsets_of(ids.lod))
        dtype = np.result_type(table, flat)
        exact = table.astype(dtype if dtype.kind == "f" else "f8").tolist()
        zeros = np.zeros((1, *table.shape[1:]))[0].tolist()
        return oracle.weighted_bag(exact, nested, factors, ids.num_levels, zeros)
    return oracle.embedding_bag(table.tolist(), nested, arguments["pool_type"], ids.num_levels, zeros)


@composite
def smooth_bags(draw):
    height, row_shape = draw(integers(1, 5)), draw(sampled_from(ROW_SHAPES))
    count = height * int(np.prod(row_shape))
    apart = np.random.default_rng(draw(integers(0, 2**32))).permutation(count) / 8  # no two are equal
    ids = draw(ids_of(height, dense=False))
    if draw(st.booleans()):
        weights = draw(weights_of(ids, [np.dtype("f8")]))
        return call(read_only(apart.reshape(height, *row_shape)), ids, per_sample_weights=weights)
    return call(read_only(apart.reshape(height, *row_shape)), ids, draw(sampled_from(POOL_TYPES)))


LOOKUP_ERRORS = [
    ("lookup_table(dense, [[0], [1, 3]])", IndexError, "ids.*3 at position 2, place 1 of sequence 1.*3 rows"),
    ("lookup_table(dense, [[0], [-1]])", IndexError, "ids.*-1 at position 1, place 0 of sequence 1"),
    ("lookup_table(dense, [0, 2**62])", IndexError, "ids.*4611686018427387904 at position 1"),
    ("lookup_table(dense, np.array([2**63], 'u8'))", IndexError, "ids.*9223372036854775808"),
    ("lookup_table(dense, 3)", IndexError, "ids: is 3; the table has 3 rows"),
    ("lookup_table(dense, np.array([[0, 1], [2, 3]]))", IndexError, r"ids.*3 at position \(1, 1\)"),
    ("lookup_table(np.zeros((0, 2)), [0])", IndexError, "ids.*0 at position 0.*0 rows"),
    ("lookup_table(dense, [0.0, 1.0])", DTypeError, "ids.*float64"),
    ("lookup_table(dense, wide)", DTypeError, "ids.*float64"),
    ("lookup_table(dense, [True])", DTypeError, "ids.*bool"),
    ("lookup_table(dense, None)", (DTypeError, ShapeError), "ids"),
    ("lookup_table(np.array(1.0), [0])", ShapeError, "table.*no axis"),
    ("lookup_table(objects, [0])", DTypeError, "table.*object"),
    ("lookup_table(wide, [0])", DTypeError, "table.*LoDTensor"),
    ("lookup_table(dense, [0], padding_idx=3)", IndexError, "padding_idx.*3.*3 rows"),
    ("lookup_table(dense, [0], padding_idx=-4)", IndexError, "padding_idx.*-4"),
    ("lookup_table(dense, [0], padding_idx=0.0)", DTypeError, "padding_idx.*0.0"),
    ("lookup_table(dense, [0], out=np.empty((1, 3)))", ShapeError, r"out.*\(1, 3\).*\(1, 4\)"),
    ("lookup_table(dense, [0], out=dense[:1])", ValueError, "out.*overlaps"),
]

BAG_ERRORS = [
    ("embedding_bag(dense, [[0], [1, 3]])", IndexError, "ids.*3 at position 2, place 1 of sequence 1.*3 rows"),
    ("embedding_bag(dense, [[0], [-1]], 'max')", IndexError, "ids.*-1 at position 1, place 0 of sequence 1"),
    ("embedding_bag(dense.astype(int), [[0], [5]])", IndexError, "ids.*5 at position 1"),
    ("embedding_bag(dense, [0, 1])", LevelError, "ids.*no level"),
    ("embedding_bag(dense, LoDTensor.from_lengths(np.zeros((2, 3), int), [2]))", ShapeError, r"ids.*\(3,\)"),
    ("embedding_bag(dense, [[0.5]])", DTypeError, "ids.*float64"),
    ("embedding_bag(dense, [[0]], 'median')", ValueError, "pool_type.*'median'.*\"sum\""),
    ("embedding_bag(np.array(['a']), [[0]])", DTypeError, "table.*<U1"),
    ("embedding_bag(dense, [[0]], 'mean', per_sample_weights=[1.0])", ValueError, "pool_type: is 'mean'.*\"sum\" only"),
    (
        "embedding_bag(dense, [[0]], per_sample_weights=[1.0, 2.0])",
        ShapeError,
        "per_sample_weights: has 2 entries; ids has 1 numbers",
    ),
    *[  # as many numbers in another shape
        (f"embedding_bag(dense, [[0, 1, 2, 2]], per_sample_weights=np.ones({shape}))", ShapeError, "per_sample_weights")
        for shape in ((1, 4), (2, 2), (4, 1, 1), (1, 1, 4))
    ],
    ("embedding_bag(dense, [[0]], per_sample_weights=np.ones((1, 2)))", ShapeError, r"per_sample_weights.*\(1, 2\)"),
    ("embedding_bag(dense, [[0], [1]], per_sample_weights=[[1.0, 2.0]])", LoDError, "per_sample_weights.*1 sequences"),
    ("embedding_bag(dense, [[0]], per_sample_weights=['a'])", DTypeError, "per_sample_weights.*<U1"),
    ("embedding_bag(dense * 1j, [[0]], per_sample_weights=[1.0])", DTypeError, "table.*complex128.*with weights"),
    ("embedding_bag(dense, [[9]], per_sample_weights=[1.0])", IndexError, "ids.*9 at position 0"),
    ("embedding_bag(dense, [[0]], out=np.empty((1, 3)))", ShapeError, r"out.*\(1, 3\).*\(1, 4\)"),
    ("embedding_bag(dense, [[0]], out=dense[:1])", ValueError, "out.*overlaps"),
]

COSTS = """
lodcore.lookup_table(np.ones((5, 4)), i % 5)
lodcore.embedding_bag(np.ones((5, 4)), i % 5)
"""
SAMPLES = {
    "lookup_table": Samples(lookups(), expected_lookup, smooth_lookups(), LOOKUP_ERRORS),
    "embedding_bag": Samples(bags(), expected_bag, smooth_bags(), BAG_ERRORS, exact=False),
}
