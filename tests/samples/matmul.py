"""Products of matrices, and the loss of a classifier."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError
from reference.ops.levels import at_level, each_at_level, sequences
from reference.ops.matmul import cross_entropy, product, sequence_matmul
from tests.helpers.agree import from_the_first
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from
from tests.samples import Samples, call
from tests.samples.common import SEEDS, finite, smooth_values
from tests.samples.expand import levels_of, lods_of

FLOATS = ["f4", "f8"]


def smooth(seed, shape, _):
    return smooth_values(seed, shape, -2, 2)


def on_rows(function, x):
    """Apply a function to each row of a tensor, with levels or without."""
    if isinstance(x, LoDTensor):
        return at_level(function, x.tolist(), x.num_levels)
    return at_level(function, x.tolist(), x.ndim - 2) if x.ndim > 1 else function(x.tolist())


# -- matmul --------------------------------------------------------------------------------------------------------


@composite
def products(draw, dtypes, make):
    lod = draw(lods(1, 3, 6))
    inner, outer = draw(integers(0, 3)), draw(integers(0, 3))
    dtype, other = draw(sampled_from(dtypes)), draw(sampled_from(dtypes))
    shape = draw(sampled_from([(inner,), (2, inner)]))
    right = make(draw(SEEDS), draw(sampled_from([(inner, outer), (inner,)])), other)
    form = draw(sampled_from(["nested", "nested", "dense", "vector"]))
    left = make(draw(SEEDS), (inner,) if form == "vector" else (lod.num_rows, *shape), dtype)
    return call(LoDTensor(left, lod) if form == "nested" else left, right)


def expected_product(arguments):
    x, y = arguments["x"], arguments["y"]
    matrix = y.tolist()
    if y.ndim == 2 and not len(y):
        return (
            np.zeros((*(x.values if isinstance(x, LoDTensor) else x).shape[:-1], y.shape[1])).tolist()
            if not (isinstance(x, LoDTensor))
            else LoDTensor(np.zeros((*x.values.shape[:-1], y.shape[1])), x.lod).tolist()
        )

    def multiplied(row):
        return [product(one, matrix) for one in row] if row and isinstance(row[0], list) else product(row, matrix)

    if isinstance(x, LoDTensor) and x.values.ndim == 3:
        return at_level(lambda row: [product(one, matrix) for one in row], x.tolist(), x.num_levels)
    return on_rows(multiplied, x)


# -- sequence_matmul -----------------------------------------------------------------------------------------------


@composite
def pairs(draw, dtypes, make):
    lod = draw(lods(1, 3, 5))
    level = draw(levels_of(lod.num_levels))
    k = from_the_first(level, lod)
    below = draw(lods_of(lod.num_sequences(k), draw(integers(1, 2))))
    upper = [lod.offsets(j) for j in range(k)]
    mine = LoD.from_offsets(*upper, *[below.offsets(j) for j in range(below.num_levels)], num_rows=below.num_rows)
    width, transpose_y = draw(integers(0, 3)), draw(st.booleans())
    if not transpose_y:
        counts = np.repeat(np.diff(lod.row_offsets(k)), np.diff(mine.row_offsets(k)))
        mine = mine.append(lengths=counts)
    x = make(draw(SEEDS), (mine.num_rows, width) if transpose_y else mine.num_rows, draw(sampled_from(dtypes)))
    y = make(draw(SEEDS), (lod.num_rows, width), draw(sampled_from(dtypes)))
    return call(LoDTensor(x, mine), LoDTensor(y, lod), transpose_y, level)


def expected_pair(arguments):
    x, y = arguments["x"], arguments["y"]
    level = from_the_first(arguments["level"], y.lod)
    width = y.values.shape[1]
    return sequence_matmul(
        (x.num_levels, x.tolist()), (y.num_levels, y.tolist()), arguments["transpose_y"], level, width
    )


COSTS = """
lodcore.sequence_matmul(wide, wide, True)
lodcore.matmul(w, np.ones((4, 4)))
lodcore.cross_entropy(w, i % 4)
"""
SAMPLES = {
    "sequence_matmul": Samples(
        pairs(["f4", "f8", "i8"], finite),
        expected_pair,
        pairs(["f8"], smooth),
        [
            ("sequence_matmul(wide, wide)", ShapeError, r"x: has rows of shape \(2,\); without transpose_y"),
            ("sequence_matmul(flat, wide)", LevelError, "x: has num_levels 1; 2 or more"),
            ("sequence_matmul(flat, wide, True)", ShapeError, r"x: has rows of shape \(\)"),
            ("sequence_matmul(wide, flat, True)", ShapeError, r"y: has rows of shape \(\)"),
            ("sequence_matmul(wide, ops.matmul(wide, np.ones((2, 3))), True)", ShapeError, "x: has rows of 2 .* 3"),
            ("sequence_matmul(wide, wide[:2], True)", LoDError, "x: has 3 sequences at level 0; y has 2"),
            (  # rows without values take no memory
                "sequence_matmul(LoDTensor(np.zeros((2**33, 0)), LoD.from_lengths([2**33])), "
                "LoDTensor(np.zeros((2**33, 0)), LoD.from_lengths([2**33])), True)",
                MemoryError,
                "the result has 73786976294838206464 x 8 = ",
            ),
            ("sequence_matmul(x, wide)", LoDError, "x: sequence 1 of level 1 has length 1; .* has 2 rows"),
            ("sequence_matmul(wide, wide, 1)", DTypeError, "transpose_y: is 1"),
            ("sequence_matmul(wide, wide, True, 1)", LevelError, "level.*1"),
            ("sequence_matmul(rows, wide)", DTypeError, "x: .*ndarray"),
            (
                "sequence_matmul(x.with_values(x.values[:, None] * 1.0), array([[[1.0, 2], [3]], [[1.0]], []]), True)",
                ShapeError,
                "y: ",
            ),
            (
                "sequence_matmul(*[array(y)[..., None] for y in ([[[1.0], [2]], []], [[[1.0]], [[1.0]]])], True)",
                LoDError,
                "x: sequence 0 of level 0 has length 2.* 1",
            ),
            ("sequence_matmul(wide, wide[:, :, :1], True)", ShapeError, "x: has rows of 2 entries; those of y have 1"),
            (
                "sequence_matmul(array([[[1.0, 2]], [], [[1.0, 2], [1, 2, 3]]]), wide)",
                LoDError,
                "x: sequence 1 of level 1 has length 2; its counterpart in y has 3",
            ),
            (
                "sequence_matmul(array([[[1.0, 2, 3]], [], [[1.0, 2, 3]]]), wide)",
                LoDError,
                "x: sequence 0 of level 1 has length 3; its counterpart in y has 2",
            ),
            (
                "sequence_matmul(array([[[1.0, 2]], [], [[1.0, 2], [1, 2, 3, 4]]]), wide)",
                LoDError,
                "x: sequence 1 of level 1 has length 2; its counterpart in y has 3",
            ),
        ],
        exact=False,
    ),
    "matmul": Samples(
        products(["f4", "f8", "i8"], finite),
        expected_product,
        products(["f8"], smooth),
        [
            ("matmul(wide, flat)", LoDError, "y: has levels.*sequence_matmul"),
            ("matmul(dense, wide)", LoDError, "y: has levels"),
            ("matmul(wide, np.ones((3, 1)))", ShapeError, r"rows of shape \(2,\), and shape \(3, 1\); the inner"),
            ("matmul(flat, np.ones((5, 1)))", ShapeError, r"rows of shape \(\), and shape \(5, 1\); rows of one axis"),
            ("matmul(flat, np.ones((2, 2)))", ShapeError, r"rows of shape \(\), and shape \(2, 2\); rows of one axis"),
            ("matmul(flat, np.ones(5))", ShapeError, r"rows of shape \(\), and shape \(5,\); rows of one axis"),
            ("matmul(wide, np.ones((5, 2, 3)))", ShapeError, r"\(2,\), and shape \(5, 2, 3\); 2 axes at most"),
            ("matmul(wide[:, :, None], np.ones((5, 2, 3)))", ShapeError, r"\(1, 2\).*\(5, 2, 3\); one matrix for all"),
            ("matmul(wide[:, :, None], np.ones((3, 2, 3)))", ShapeError, r"\(1, 2\).*\(3, 2, 3\); one matrix for all"),
            ("matmul(np.ones((2, 2, 3)), np.ones((3, 3, 1)))", ShapeError, "do not broadcast"),
            ("matmul(wide, 3.0)", ShapeError, r"\(2,\), and shape \(\); a number"),
            ("matmul(wide, None)", DTypeError, "y: is None"),
            ("matmul(wide, objects)", DTypeError, "y: makes dtype object"),
            ("matmul(wide, np.array([['a'], ['b']]))", DTypeError, "float64, <U1"),
            ("matmul(wide, [[1.0], [1.0, 2.0]])", ShapeError, "matmul: y: is nested unevenly"),
        ],
        exact=False,
    ),
}

# -- loss --------------------------------------------------------------------------------------------------------


@composite
def rows_of_numbers(draw, dtypes, make, smallest=0):
    lod = draw(lods(1, 3, 6))
    shape = (lod.num_rows, draw(integers(smallest, 3)))
    made = make(draw(SEEDS), shape, draw(sampled_from(dtypes)))
    return LoDTensor(made, lod) if draw(st.booleans()) else made


@composite
def labelled(draw, dtypes, make):
    logits = draw(rows_of_numbers(dtypes, make, 1))
    values = logits.values if isinstance(logits, LoDTensor) else logits
    random = np.random.default_rng(draw(SEEDS))
    labels = read_only(random.integers(0, values.shape[1], len(values)).astype(draw(sampled_from(["i8", "u1", "i4"]))))
    if draw(st.booleans()):
        labels = labels[:, None]
    if draw(st.booleans()):
        lod = logits.lod if isinstance(logits, LoDTensor) else LoD.from_lengths([len(values)])
        labels = LoDTensor(labels, lod)
    return call(logits, labels, *draw(sampled_from([(), (0.0,), (0.25,), (1,), (0.0, 0), (0.25, -100), (0.5, 1)])))


def expected_loss(arguments):
    logits, labels = arguments["logits"], arguments["labels"]
    rows = sequences(logits.tolist(), logits.num_levels) if isinstance(logits, LoDTensor) else logits.tolist()
    numbers = (labels.values if isinstance(labels, LoDTensor) else labels).ravel().tolist()
    spread, ignored = arguments["label_smoothing"], arguments["ignore_index"]
    pairs = zip(rows, numbers, strict=True)
    losses = [0.0 if label == ignored else cross_entropy(row, label, spread) for row, label in pairs]
    given = next((x for x in (logits, labels) if isinstance(x, LoDTensor)), None)
    return losses if given is None else each_at_level(losses, given.tolist(), given.num_levels)


SAMPLES["cross_entropy"] = Samples(
    labelled(FLOATS, finite),
    expected_loss,
    labelled(["f8"], smooth),
    [
        ("cross_entropy(dense, [0, 1, 4])", IndexError, "labels: is 4 at row 2.*4 classes"),
        ("cross_entropy(dense, [0, -1, 4])", IndexError, "labels: is -1 at row 1"),
        ("cross_entropy(dense, rows[:0])", ShapeError, r"labels: have shape \(0,\).*3 rows"),
        ("cross_entropy(dense, [])", DTypeError, "labels: have dtype float64"),
        ("cross_entropy(dense, np.zeros((3, 2), int))", ShapeError, r"labels: have shape \(3, 2\).*3 rows"),
        ("cross_entropy(dense, [0, 1])", ShapeError, r"labels: have shape \(2,\).*3 rows"),
        ("cross_entropy(dense, [0.0, 1.0, 2.0])", DTypeError, "labels: have dtype float64"),
        ("cross_entropy(dense * 1j, [0, 1, 2])", DTypeError, "logits: have dtype complex128; real"),
        ("cross_entropy(dense[0], [0])", ShapeError, r"logits: have shape \(4,\)"),
        ("cross_entropy(wide, x)", LoDError, "labels: has 2 levels; logits has 1"),
        (
            "cross_entropy(wide, LoDTensor.from_lengths(rows % 2, [3, 0, 2]))",
            LoDError,
            "labels: sequence 0 of level 0 has length 3; that of logits has 2",
        ),
        ("cross_entropy(wide, [[0, 1], [1, 0, 1]])", ShapeError, "labels.*uneven"),
        ("cross_entropy(dense, [0, 1, 2], 1.5)", ValueError, "label_smoothing: is 1.5; 0 .. 1 is valid"),
        ("cross_entropy(dense, [0, -100, 4], ignore_index=-100)", IndexError, "labels: is 4 at row 2.*4 classes"),
        ("cross_entropy(dense, [0, -1, -100], ignore_index=-100)", IndexError, "labels: is -1 at row 1"),
        ("cross_entropy(dense, [0, 1, 2], ignore_index=1.0)", DTypeError, "ignore_index: is 1.0; an integer"),
        ("cross_entropy(np.zeros((1, 0)), [-1], ignore_index=-1)", IndexError, "at row 0; there are 0 classes"),
        ("cross_entropy(dense, [0, 1, 2], label_smoothing='a')", DTypeError, "label_smoothing: is 'a'"),
        ("cross_entropy(np.zeros((1, 0)), [0])", IndexError, "labels: is 0 at row 0.*0 classes"),
    ],
    exact=False,
)
