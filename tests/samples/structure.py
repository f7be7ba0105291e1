"""Samples of the operators that change the structure of cells."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError
from reference.ops import structure as oracle
from tests.helpers.agree import offsets_of
from tests.helpers.draw import composite, integers, lod_tensors, odd_forms, read_only, running_sum, sampled_from, values
from tests.samples import Samples, call
from tests.samples.expand import FLOAT, NARROW, PLAIN, lods_of, tame


@composite
def reshape_calls(draw, dtypes=PLAIN):
    width, new_dim = draw(sampled_from([(1, 1), (2, 1), (6, 4), (4, 6), (3, 6), (0, 2), (4, 4)]))
    once = new_dim // np.gcd(width, new_dim)  # rows that can be divided
    lod = draw(lods_of(draw(integers(0, 4)), draw(integers(1, 3)), longest=2))
    lod = LoD.from_offsets(*offsets_of(lod)[:-1], (lod.offsets(-1) * once).tolist())
    shape = draw(sampled_from([(width,), (1, width), (width, 1, 1)] + [()] * (width == 1)))
    return call(
        LoDTensor(draw(values(lod.num_rows, dtypes, [shape])), lod), draw(sampled_from([int, np.int8]))(new_dim)
    )


def reshaped(arguments):
    x = arguments["x"]
    return oracle.sequence_reshape(x.tolist(), int(arguments["new_dim"]), x.num_levels)


@composite
def targets(draw, n_rows):
    """Draw offsets of a structure of a number of rows, the coarsest first."""
    cuts = sorted(draw(st.lists(st.integers(0, n_rows), max_size=4)))
    found = [[0, *cuts, n_rows]]
    for _ in range(draw(integers(0, 2))):
        count = len(found[0]) - 1
        found.insert(0, [0, *sorted(draw(st.lists(st.integers(0, count), max_size=3))), count])
    return found


@composite
def reset_calls(draw, dtypes=PLAIN, row_shapes=NARROW):
    x = draw(lod_tensors(max_levels=2, dtypes=dtypes, row_shapes=row_shapes, most=5))
    x = x.values if draw(st.booleans()) else x
    found = draw(targets(len(x.values) if isinstance(x, LoDTensor) else len(x)))
    lod = LoD.from_offsets(*found)
    form = draw(sampled_from(["LoD", "tensor", "vector", "target", "target list", "target LoD", "none"]))
    if form == "vector":
        return call(x, read_only(np.array(found[-1], draw(sampled_from(["i4", "i8"])))))
    if form in ("LoD", "tensor"):
        return call(x, lod if form == "LoD" else LoDTensor(np.zeros((lod.num_rows, 0), int), lod), target_lod=[7])
    if form == "none":
        return call(x, target_lod=LoD.from_offsets(num_rows=found[-1][-1]))
    if form == "target LoD":
        return call(x, None, lod)
    return call(x, target_lod=found[-1] if form == "target" else found)


def reset(arguments):
    x, y, target = (arguments[name] for name in ("x", "y", "target_lod"))
    if y is not None:
        target = [y.tolist()] if isinstance(y, np.ndarray) else offsets_of(getattr(y, "lod", y))
    elif isinstance(target, LoD):
        target = offsets_of(target)
    elif not isinstance(target[0], list):
        target = [target]
    return oracle.lod_reset(x.tolist(), x.num_levels if isinstance(x, LoDTensor) else 0, target)


@composite
def append_calls(draw, dtypes=PLAIN, row_shapes=NARROW):
    depth = draw(integers(0, 2))
    lod = draw(lods_of(draw(integers(0, 4)), depth, longest=2))
    n_rows = lod.num_rows
    if depth:  # as many new sequences as rows
        sizes = np.bincount(
            draw(st.lists(st.integers(0, max(n_rows - 1, 0)), min_size=n_rows, max_size=n_rows)), None, n_rows
        )
    else:
        sizes = np.diff([0, *sorted(draw(st.lists(st.integers(0, n_rows), max_size=3))), n_rows])
    rows = draw(values(n_rows, dtypes, row_shapes))
    x = LoDTensor(rows, lod) if depth else rows
    sizes = sizes.astype(np.int64).tolist()
    if draw(st.booleans()) and sizes:
        return call(x, lengths=draw(odd_forms(sizes)))
    return call(x, offsets=draw(odd_forms(running_sum(sizes))))


def appended(arguments):
    x, sizes = arguments["x"], arguments["lengths"]
    if sizes is None:
        sizes = np.diff(np.array(arguments["offsets"], np.int64).reshape(-1))
    sizes = np.array(sizes, np.int64).reshape(-1).tolist()
    return oracle.lod_append(x.tolist(), x.num_levels if isinstance(x, LoDTensor) else 0, sizes)


COSTS = """
lodcore.lod_reset(x, t)
lodcore.lod_append(x, lengths=np.ones(len(v), int))
lodcore.sequence_reshape(w, 2)
"""
SAMPLES = {
    "sequence_reshape": Samples(
        reshape_calls(),
        reshaped,
        reshape_calls(FLOAT).map(tame),
        [
            ("sequence_reshape(wide, 4)", ShapeError, "new_dim: is 4; sequence 2 has 3 rows of 2, 6 cells"),
            ("sequence_reshape(x, 2)", ShapeError, "new_dim: is 2; sequence 1 has 1 rows of 1, 1 cells"),
            ("sequence_reshape(wide, 0)", ShapeError, "new_dim: is 0"),
            ("sequence_reshape(wide, -2)", ShapeError, "new_dim: is -2"),
            ("sequence_reshape(wide, 2**70)", ShapeError, "new_dim: is 1180591620717411303424"),
            ("sequence_reshape(wide, 2.0)", DTypeError, "new_dim: is 2.0"),
            ("sequence_reshape(wide, True)", DTypeError, "new_dim: is True"),
            ("sequence_reshape(wide, None)", DTypeError, "new_dim: is None"),
            ("sequence_reshape(dense, 2)", DTypeError, "x: .*ndarray"),
            ("sequence_reshape(LoDTensor(rows, LoD.from_offsets(num_rows=5)), 1)", LevelError, "-1"),
            ("sequence_reshape(wide, np.array([2]))", DTypeError, "new_dim: is array"),
            (
                "sequence_reshape(array([[1, 2], [3], [4], [5, 6]]), 2)",
                ShapeError,
                "sequence 1 has 1 rows of 1, 1 cells",
            ),
        ],
    ),
    "lod_reset": Samples(
        reset_calls(),
        reset,
        reset_calls(FLOAT).map(tame),
        [
            ("lod_reset(flat)", LoDError, "y, target_lod: neither is given"),
            ("lod_reset(flat, target_lod=[0, 4])", LoDError, "target_lod: has 4 rows; x has 5"),
            ("lod_reset(flat, target_lod=[1, 5])", LoDError, r"target_lod: offsets\[0\]: is 1 at position 0"),
            ("lod_reset(flat, target_lod=[0, 4, 3, 5])", LoDError, r"target_lod.*falls at position 2 \(4 -> 3\)"),
            ("lod_reset(flat, target_lod=[[0, 1], [0, 2, 5]])", LoDError, r"offsets\[0\]: is 1 at position 1.*2"),
            ("lod_reset(flat, target_lod=[])", LoDError, "target_lod.*empty"),
            ("lod_reset(flat, target_lod=[0.0, 5.0])", DTypeError, "target_lod.*float64"),
            ("lod_reset(flat, target_lod='a')", (DTypeError, ShapeError), "target_lod"),
            ("lod_reset(flat, x)", LoDError, "y: has 6 rows; x has 5"),
            ("lod_reset(flat, rows)", LoDError, "y: has 4 rows; x has 5"),
            ("lod_reset(flat, dense)", ShapeError, r"y: .*\(3, 4\)"),
            ("lod_reset(flat, np.array([0.0, 5.0]))", DTypeError, "y: .*float64"),
            ("lod_reset(None, [[1]])", DTypeError, "x: .*None"),
            ("lod_reset(objects, target_lod=[0, 2])", DTypeError, "x: .*object"),
            ("lod_reset(flat, [0, 2, 6])", LoDError, "y.*6.*5"),
            ("lod_reset(flat, [0, 4])", LoDError, "y: has 4 rows; x has 5"),
            ("lod_reset(flat, x[:1])", LoDError, "y: has 3 rows; x has 5"),
            ("lod_reset(flat, [0, 3, 2])", LoDError, "lod_reset: y.*position 2"),
            ("lod_reset(flat, target_lod=[0, 3, 2])", LoDError, "lod_reset: target_lod.*position 2"),
            ("lod_reset(flat[:0], target_lod=[0, 4])", LoDError, "target_lod: has 4 rows; x has 0"),
            ("lod_reset(flat[:0], flat)", LoDError, "y: has 5 rows; x has 0"),
            ("lod_reset(flat, flat[:0])", LoDError, "y: has 0 rows; x has 5"),
        ],
    ),
    "lod_append": Samples(
        append_calls(),
        appended,
        append_calls(FLOAT).map(tame),
        [
            ("lod_append(flat)", LoDError, "lengths, offsets: exactly one"),
            ("lod_append(flat, lengths=[5], offsets=[0, 5])", LoDError, "lengths, offsets: exactly one"),
            (
                "lod_append(flat, offsets=[0, 3, 5])",
                LoDError,
                "offsets: make 2 sequences; .* of x counts 5",
            ),
            ("lod_append(flat, lengths=[1, 1, 1, 1, 2])", LoDError, "lengths: have 6 rows; x has 5"),
            ("lod_append(flat, lengths=[1, 1, 1, -1, 3])", LoDError, "lengths.*-1 at position 3"),
            ("lod_append(flat, offsets=[0, 1, 0, 2, 2, 5])", LoDError, r"offsets.*falls at position 2 \(1 -> 0\)"),
            ("lod_append(flat, lengths=[1.0] * 5)", DTypeError, "lengths.*float64"),
            ("lod_append(rows, lengths=[4])", LoDError, "lengths: have 4 rows; x has 5"),
            ("lod_append(flat, [1] * 5)", TypeError, None),
            ("lod_append(flat, lengths=[1] * 6)", LoDError, "lengths: make 6 sequences; the last level of x counts 5"),
            ("lod_append(flat, lengths=[1] * 4)", LoDError, "lengths: make 4 sequences"),
            ("lod_append(flat, offsets=[0, 1, 2])", LoDError, "offsets: make 2 sequences"),
            ("lod_append(flat, offsets=range(7))", LoDError, "offsets: (make 6|is range)"),
            ("lod_append(flat, lengths=[2, 1, 1, 1, 1])", LoDError, "lengths: have 6 rows; x has 5"),
            ("lod_append(flat, offsets=[0, 2, 3, 4, 5, 6])", LoDError, "offsets: have 6 rows; x has 5"),
        ],
    ),
}
