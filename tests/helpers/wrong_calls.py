"""Wrong calls of every public function, as text, for the tests of errors and of leaks.

An entry is a call, its error, and a pattern that matches argument, position and value, but not the rest of the text.
The names in calls are those of `things`.
"""

import builtins
import functools
import operator
import pickle

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError, TensorArray, ops
from lodcore.operators.registry import OPS


def things():
    """Make the objects that calls use, new ones for each call."""
    x = lodcore.array([[[1, 2], [3]], [], [[4, 5, 6]]])
    flat = lodcore.array([[1, 2], [], [3, 4, 5]])
    steps, steps_map = TensorArray.unpack(flat, 0)
    inner_steps, inner_map = TensorArray.unpack(x, 0)
    with_hole = TensorArray()
    with_hole.write(1, [1, 2])
    pair, mixed, uneven = TensorArray(), TensorArray(), TensorArray()
    pair.write(0, flat)
    pair.write(1, flat[:2])
    mixed.write(0, flat)
    mixed.write(1, [1])
    uneven.write(0, [[1, 2]])
    uneven.write(1, [[1]])
    fixed = TensorArray(2, dynamic=False)
    contains_itself = [[]]
    contains_itself[0].append(contains_itself)
    objects = np.empty(2, object)
    objects[:] = [1, "a"]
    return {
        "x": x,
        "lod": x.lod,
        "flat": flat,
        "wide": LoDTensor.from_lengths(np.arange(10.0).reshape(5, 2), [2, 0, 3]),
        "rows": np.arange(5),
        "dense": np.zeros((3, 4)),
        "table": lodcore.lod_rank_table(flat),
        "steps": steps,
        "steps_map": steps_map,
        "inner_steps": inner_steps,
        "inner_map": inner_map,
        "with_hole": with_hole,
        "pair": pair,
        "mixed": mixed,
        "uneven": uneven,
        "fixed": fixed,
        "contains_itself": contains_itself,
        "objects": objects,
        "masked": np.ma.array([0, 1], mask=[True, False]),
    }


def run(call, names):
    """Run a call with these names and the public names."""
    return eval(call, {**public_names(), "np": np, "operator": operator, "rebuilt": rebuilt, "OPS": OPS}, names)


@functools.cache
def public_names():
    """Return the names that calls may use, including lazily loaded ones."""
    listed = {name: getattr(lodcore, name) for name in lodcore.__all__}
    others = {name: call for name, call in vars(ops).items() if not hasattr(builtins, name)}
    return {**others, **listed, **vars(lodcore)}


def rebuilt(thing, *state):
    """Set another state, as unpickling does."""
    make, _ = thing.__reduce__()
    return make(*state)


OFFSETS = [
    ("LoD.from_offsets()", LoDError, "num_rows.*missing"),
    ("LoD.from_offsets([])", LoDError, r"offsets\[0\].*empty"),
    ("LoD.from_offsets([0, 1], [])", LoDError, r"offsets\[1\].*empty"),
    ("LoD.from_offsets([3])", LoDError, r"offsets\[0\].*3 at position 0"),
    ("LoD.from_offsets([1, 2, 3])", LoDError, r"offsets\[0\].*1 at position 0"),
    ("LoD.from_offsets([-1, 2])", LoDError, r"offsets\[0\].*-1 at position 0"),
    ("LoD.from_offsets([0, 4, 2, 5])", LoDError, r"offsets\[0\].*position 2 \(4 -> 2\)"),
    ("LoD.from_offsets([0, -1, 5])", LoDError, r"offsets\[0\].*position 1 \(0 -> -1\)"),
    ("LoD.from_offsets([0, -2**63, 5])", LoDError, r"position 1 \(0 -> -9223372036854775808\)"),
    ("LoD.from_offsets([0, 2**63 - 1, -2**63])", LoDError, "position 2"),
    ("LoD.from_offsets([0, 10**9, 5])", LoDError, r"position 2 \(1000000000 -> 5\)"),
    ("LoD.from_offsets([0, 2], [0, 1])", LoDError, r"offsets\[0\].*2 at position 1.*1$"),
    ("LoD.from_offsets([0, 0], [0, 1])", LoDError, r"offsets\[0\].*0 at position 1.*1$"),
    ("LoD.from_offsets([0, 1], [0, 3], [0, 1, 2])", LoDError, r"offsets\[1\].*3 at position 1.*2$"),
    ("LoD.from_offsets([0, 2**62], [0, 1])", LoDError, r"offsets\[0\].*4611686018427387904 at position 1"),
    ("LoD.from_offsets([0, 1], [0, 2, 1], [0, 0])", LoDError, r"offsets\[1\].*position 2 \(2 -> 1\)"),
    ("LoD.from_offsets([0, 2], num_rows=3)", LoDError, r"offsets\[0\].*2 at position 1.*3"),
    ("LoD.from_offsets([0, 2], num_rows=1)", LoDError, r"offsets\[0\].*2 at position 1.*1"),
    ("LoD.from_offsets(num_rows=-1)", LoDError, "num_rows.*-1"),
    ("LoD.from_offsets(num_rows=2**63)", LoDError, "num_rows.*9223372036854775808"),
    ("LoD.from_offsets(num_rows=2**70)", LoDError, "num_rows"),
    ("LoD.from_offsets(num_rows=1.0)", DTypeError, "num_rows.*1.0"),
    ("LoD.from_offsets(num_rows='1')", DTypeError, "num_rows.*'1'"),
    ("LoD.from_lengths()", LoDError, "num_rows.*missing"),
    ("LoD.from_lengths([1, -1])", LoDError, r"lengths\[0\].*-1 at position 1"),
    ("LoD.from_lengths([1], [-2**63])", LoDError, r"lengths\[1\].*-9223372036854775808 at position 0"),
    ("LoD.from_lengths([2**62, 2**62])", LoDError, r"lengths\[0\].*4611686018427387904 at position 1"),
    ("LoD.from_lengths([2**63 - 1, 2**63 - 1, 2])", LoDError, r"lengths\[0\].*position 1"),
    ("LoD.from_lengths([2, 1], [1, 1])", LoDError, r"lengths\[0\].*3.*2"),
    ("LoD.from_lengths([1], [1, 1])", LoDError, r"lengths\[0\].*1.*2"),
    ("LoD.from_lengths([1], num_rows=2)", LoDError, r"lengths\[0\].*1.*2"),
    ("LoD.from_lengths([1], num_rows=1.5)", DTypeError, "num_rows.*1.5"),
    ("LoD.from_segment_ids(x.segment_ids())", ShapeError, "ids: is a LoDTensor, whose .values are flat; a flat"),
    ("LoDTensor.from_segment_ids(flat.values, flat.segment_ids())", ShapeError, "ids: is a LoDTensor, whose .values"),
    ("LoD.from_lengths(flat)", ShapeError, "is a LoDTensor, whose .values are flat; a flat"),
    ("LoD.from_segment_ids([1, 0])", LoDError, "ids.*row"),
    ("LoD.from_segment_ids([0, 5, 2], 6)", LoDError, "ids.*2 at row 2"),
    ("LoD.from_segment_ids([-1, 0])", LoDError, "ids.*-1 at row 0"),
    ("LoD.from_segment_ids([0, 2], 2)", LoDError, "ids.*2 at row 1"),
    ("LoD.from_segment_ids([0], 0)", LoDError, "ids.*0 at row 0"),
    ("LoD.from_segment_ids([0], -1)", LoDError, "num_sequences.*-1"),
    ("LoD.from_segment_ids([0], 1.0)", DTypeError, "num_sequences.*1.0"),
    ("LoD.from_segment_ids([2**63 - 1])", LoDError, "ids.*9223372036854775807 at row 0"),
    ("LoD.from_segment_ids([2**61])", LoDError, "ids.*2305843009213693952 at row 0.*give num_sequences"),
    ("LoD.from_segment_ids([0, 2**20])", LoDError, "ids.*1048576 at row 1; 2 rows.*give num_sequences"),
    ("LoDTensor.from_segment_ids([1, 2], [0, 2**40])", LoDError, "ids.*1099511627776 at row 1.*give num_sequences"),
    ("LoD.from_segment_ids([2**61], 2**61 + 1)", MemoryError, None),
    ("LoD.from_segment_ids([0], 2**62)", MemoryError, None),
    ("LoD.from_row_offsets()", LoDError, "offsets"),
    ("LoD.from_row_offsets([0, 3], [0, 2, 5])", LoDError, r"offsets\[0\].*3 at position 1"),
    ("LoD.from_row_offsets([0, 4], [0, 2])", LoDError, r"offsets\[0\].*4 at position 1"),
    ("LoD.from_row_offsets([0, 2], [0, 2, 5])", LoDError, r"offsets\[0\].*2 at position 1"),
    ("LoD.from_row_offsets([0], [0, 0])", LoDError, r"offsets\[0\].*0 at position 0"),
    ("LoD.from_row_offsets([0, 1], [0, 2, 1])", LoDError, r"offsets\[1\].*position 2 \(2 -> 1\)"),
    ("LoD()", TypeError, "from_offsets"),
    ("LoD([0, 1])", TypeError, "from_offsets"),
]

STRUCTURE = [
    ("lod.take([3])", IndexError, "index.*3 at position 0.*3"),
    ("lod.take([0, -4])", IndexError, "index.*-4 at position 1.*3"),
    ("lod.take([0, 3], 1)", IndexError, "index.*3 at position 1.*3"),
    ("lod.take([-2**63])", IndexError, "-9223372036854775808 at position 0"),
    ("lod.take([2**63 - 1])", IndexError, "9223372036854775807 at position 0"),
    ("LoD.from_lengths([]).take([0])", IndexError, "index.*0 at position 0.*0"),
    ("LoD.from_lengths([2**62]).take([0, 0])", MemoryError, "entry 1"),
    ("LoD.from_lengths([2**62]).segment_ids()", MemoryError, None),
    ("LoD.from_lengths([2**62]).positions()", MemoryError, None),
    ("LoD.from_lengths([2**62]).concat(LoD.from_lengths([2**62]))", MemoryError, "9223372036854775808"),
    ("lod.slice(0.5, 1)", TypeError, None),
    ("lod.slice('a', None)", TypeError, None),
    ("lod.concat(flat.lod)", LoDError, "batch 1.*1 level.*2"),
    ("lod.concat(lod, [[0, 1]])", DTypeError, "batch 2.*list"),
    ("lod.concat(None)", DTypeError, "batch 1.*NoneType"),
    ("lod.append()", LoDError, "lengths, offsets"),
    ("lod.append(lengths=[1], offsets=[0, 1])", LoDError, "lengths, offsets"),
    ("lod.append(lengths=[1, 2])", LoDError, "lengths.*2.*6"),
    ("lod.append(offsets=[0, 2])", LoDError, "offsets.*1.*6"),
    ("lod.append(offsets=[0, 1, 1, 2, 1, 1, 1])", LoDError, r"position 4 \(2 -> 1\)"),
    ("lod.append(lengths=[0, 0, 0, 0, -3, 0])", LoDError, "-3 at position 4"),
    ("LoD.from_offsets(num_rows=3).split()", LevelError, "0"),
    ("LoD.from_offsets(num_rows=3).offsets()", LevelError, "0"),
    ("LoD.from_offsets(num_rows=3).drop()", LevelError, "0"),
]

TENSORS = [
    ("LoDTensor(rows, flat)", DTypeError, "lod.*LoDTensor"),
    ("LoDTensor(rows, [[0, 5]])", DTypeError, "lod.*list"),
    ("LoDTensor(rows[:4], flat.lod)", LoDError, "values.*4.*5"),
    ("LoDTensor(np.arange(7), flat.lod)", LoDError, "values.*7.*5"),
    ("LoDTensor(3, flat.lod)", ShapeError, "values.*no axis"),
    ("LoDTensor(None, flat.lod)", (DTypeError, ShapeError), "values"),
    ("LoDTensor('abcde', flat.lod)", ShapeError, "values"),
    ("LoDTensor([[1], [2, 3]], LoD.from_lengths([2]))", ShapeError, "values.*unevenly"),
    ("LoDTensor(objects, LoD.from_lengths([2]))", DTypeError, "values.*object"),
    ("LoDTensor(masked, LoD.from_lengths([2]))", DTypeError, "values.*masked"),
    ("LoDTensor(x, x.lod)", (ShapeError, DTypeError), "values|LoDTensor"),
    ("LoDTensor([1, 2], LoD.from_lengths([2]), share=True)", ValueError, "values.*shared"),
    ("LoDTensor(np.arange(4)[::2], LoD.from_lengths([2]), share=True)", ValueError, "values.*shared"),
    ("LoDTensor.from_offsets(rows, [0, 2])", LoDError, r"offsets\[0\].*2 at position 1.*5"),
    ("LoDTensor.from_offsets(rows, [0, 3, 100])", LoDError, r"offsets\[0\].*100 at position 2.*5"),
    ("LoDTensor.from_offsets(rows, [0, 2**31 + 3])", LoDError, r"offsets\[0\].*2147483651 at position 1.*5"),
    ("LoDTensor.from_offsets(rows, [2, 3, 5])", LoDError, r"offsets\[0\].*2 at position 0"),
    ("LoDTensor.from_offsets(rows, [])", LoDError, r"offsets\[0\].*empty"),
    ("LoDTensor.from_offsets(rows, [0, 1, 2], [0, 1, 4])", LoDError, r"offsets\[1\].*4 at position 2.*5"),
    ("LoDTensor.from_offsets(rows, [0, 3], [0, 1, 5])", LoDError, r"offsets\[0\].*3 at position 1.*2"),
    ("LoDTensor.from_row_splits(rows, [0, 6])", LoDError, r"offsets\[0\].*6 at position 1.*5"),
    ("LoDTensor.from_offsets(objects, [0, 2])", DTypeError, "values.*object"),
    ("LoDTensor.from_lengths(rows, [2, 2])", LoDError, r"lengths\[0\].*4.*5"),
    ("LoDTensor.from_lengths(rows, [6, -1])", LoDError, r"lengths\[0\].*-1 at position 1"),
    ("LoDTensor.from_lengths(masked, [2])", DTypeError, "values.*masked"),
    ("LoDTensor.from_segment_ids(rows, [0, 1])", LoDError, "ids.*2.*5"),
    ("LoDTensor.from_segment_ids(rows, [0, 1, 0, 1, 1])", LoDError, "ids.*0 at row 2"),
    ("LoDTensor.from_segment_ids(None, [0])", (DTypeError, ShapeError), "values"),
    ("LoDTensor.from_starts_stops(rows, [0], [6])", IndexError, "starts, stops.*0, 6 at position 0.*5"),
    ("LoDTensor.from_starts_stops(rows, [0, 3], [5, 2])", IndexError, "starts, stops.*3, 2 at position 1"),
    ("LoDTensor.from_starts_stops(rows, [-1], [2])", IndexError, "starts, stops.*-1, 2 at position 0"),
    ("LoDTensor.from_starts_stops(rows, [-2**63], [2**63 - 1])", IndexError, "position 0"),
    ("LoDTensor.from_starts_stops(rows, [0, 1], [5])", ShapeError, "stops.*1.*2"),
    (
        "LoDTensor.from_starts_stops(np.empty((2**40, 0)), np.zeros(2**23, int), np.full(2**23, 2**40))",
        MemoryError,
        None,
    ),
    ("LoDTensor.from_arrays([[1], 2])", ShapeError, r"arrays\[1\].*no axis"),
    ("LoDTensor.from_arrays([[1], [[2]]])", ShapeError, r"arrays\[1\].*\(1,\).*\(\)"),
    ("LoDTensor.from_arrays([[1], [[2], [3, 4]]])", ShapeError, r"arrays\[1\].*unevenly"),
    ("LoDTensor.from_arrays([[1], objects])", DTypeError, r"arrays\[1\].*object"),
    ("LoDTensor.from_arrays([objects])", DTypeError, "arrays.*object"),
    ("LoDTensor.from_arrays([[1], masked])", DTypeError, r"arrays\[1\].*masked"),
    ("LoDTensor.from_arrays([[1], None])", (DTypeError, ShapeError), r"arrays\[1\]"),
    ("LoDTensor.from_arrays([np.zeros(1), np.zeros(1, 'M8[s]')])", DTypeError, "arrays"),
    ("LoDTensor.from_arrays([[1]], dtype=object)", DTypeError, "dtype.*object"),
    ("LoDTensor.from_arrays([[1]], dtype='nonsense')", DTypeError, "nonsense"),
    ("LoDTensor.from_arrays('abc')", DTypeError, "arrays.*str"),
    ("LoDTensor.from_arrays(None)", DTypeError, "arrays.*NoneType"),
    ("LoDTensor.from_arrays(3)", DTypeError, "arrays.*int"),
    ("LoDTensor.from_arrays({1, 2})", ShapeError, r"arrays\[0\].*no axis"),
    ("LoDTensor.from_padded(dense)", ValueError, "lengths, mask"),
    ("LoDTensor.from_padded(dense, [1, 2, 3], mask=dense > 0)", ValueError, "lengths, mask"),
    ("LoDTensor.from_padded([1, 2], [1])", ShapeError, r"dense: has shape \(2,\); \(n, padded_length, ...\) is needed"),
    ("LoDTensor.from_padded(dense, [1, 2])", LoDError, "lengths.*2.*3"),
    ("LoDTensor.from_padded(dense, [1, 5, 2])", LoDError, "lengths.*5 at position 1.*4"),
    ("LoDTensor.from_padded(dense, [1, -1, 2])", LoDError, r"lengths.*-1 at position 1"),
    ("LoDTensor.from_padded(dense, [2**62, 2**62, 2**62])", LoDError, "lengths.*position 1"),
    ("LoDTensor.from_padded(dense, mask=dense)", DTypeError, "mask.*float64"),
    ("LoDTensor.from_padded(dense, mask=[True])", ShapeError, r"mask.*\(1,\).*\(3, 4\)"),
    ("LoDTensor.from_padded(dense, dense[:2] > 0)", ShapeError, r"mask.*\(2, 4\).*\(3, 4\)"),
    ("LoDTensor.from_padded(dense, x.num(-1))", ShapeError, r"dense: has shape \(3, 4\); lengths have 2 levels"),
    (
        "LoDTensor.from_padded(np.zeros((3, 1, 9)), x.num(-1))",
        LoDError,
        "lengths: is 2 at position . of level 0; a line has 1 lines",
    ),
    ("LoDTensor.from_padded(dense, [1, 2, 3], side='top')", ValueError, "side.*'top'"),
    ("LoDTensor.from_padded(masked.reshape(1, 2), [1])", DTypeError, "dense.*masked"),
    ("LoDTensor.from_padded(np.zeros((1, 2), object), [1])", DTypeError, "dense.*object"),
    ("np.asarray(x)", ShapeError, "to_padded.*to_regular.*to_arrays.*values"),
    ("np.array(flat, float)", ShapeError, "to_padded"),
    ("bool(flat)", ValueError, "ambiguous"),
    ("hash(flat)", TypeError, "LoDTensor"),
    ("flat[3]", IndexError, "3.*3"),
    ("flat[-4]", IndexError, "-4.*3"),
    ("flat[2**70]", IndexError, "1180591620717411303424.*3"),
    ("flat[-2**63]", IndexError, "-9223372036854775808.*3"),
    ("x[np.int8(3)]", IndexError, "3.*3"),
    ("x['a':]", TypeError, None),
    ("x[::0]", ValueError, "step cannot be zero"),
    ("x[1.0]", TypeError, "1.0"),
    ("x[True]", TypeError, "True"),
    ("x['a']", TypeError, "'a'"),
    ("x[..., ...]", IndexError, "single ellipsis"),
    ("x[0, 0, 0, 0]", IndexError, "there are 3 axes, but 4"),
    ("x[:, 2]", IndexError, "index 2 .*sequence 0 of level 0 with length 2"),
    ("x[:, :, -1, 0]", IndexError, "there are 3 axes, but 4"),
    ("x[[0, 3]]", IndexError, "3 at position 1; there are 3 sequences"),
    ("x[[0.0]]", TypeError, "float64"),
    ("x[[[0], [1]]]", TypeError, "list of lists"),
    ("x[np.zeros((3, 2), int)]", TypeError, r"shape \(3, 2\)"),
    ("x[masked]", TypeError, "masked"),
    ("x[[True, False]]", ShapeError, "2 entries; there are 3"),
    ("x[:, [True, False]]", TypeError, "must be the first key"),
    ("x[flat]", IndexError, "sequence 0 of level 0"),
    ("x[:, flat]", TypeError, "must be the first key"),
    ("wide[:, 0, flat]", TypeError, "must be the first key.*paired=True"),
    ("x[flat > 1]", LoDError, "sequence 2 of level 0 has length 3"),
    ("flat[x > 1]", IndexError, "2 axes, but 3"),
    ("flat[0, flat]", TypeError, "must be the first key"),
    ("x[wide > 1]", ShapeError, r"rows of shape \(2,\)"),
    ("operator.setitem(x, 3, 1)", IndexError, "index 3"),
    ("operator.setitem(x, 0, 1.5)", DTypeError, "value: is 1.5; int64"),
    ("operator.setitem(x, 0, np.nan)", DTypeError, "value: is nan"),
    ("operator.setitem(x, 0, 'a')", DTypeError, "value: has dtype <U1"),
    ("operator.setitem(x, 0, None)", DTypeError, "value: has dtype object"),
    ("operator.setitem(x, 0, [1, 2])", ShapeError, "value: has length 2 on axis 1.*ragged"),
    ("operator.setitem(x[0], 0, [1, 2, 3])", ShapeError, r"value: has shape \(3,\); .* \(2,\)"),
    ("operator.setitem(x, 0, [[1], [2, 3]])", ShapeError, "value.*uneven"),
    ("operator.setitem(x, 0, flat)", LoDError, "value"),
    ("operator.setitem(flat, 0, flat)", LoDError, "value: has levels"),
    ("operator.setitem(wide.copy(), slice(None), x)", LoDError, "value: has 2 levels; .* has 1"),
    ("operator.setitem(wide[:, :1].copy(), slice(None), x)", LoDError, "value: has 2 levels; .* has 1"),
    ("operator.setitem(flat.copy(), slice(None), wide)", LoDError, "value: has 3 axes; .* has 2"),
    ("operator.setitem(x, flat > 1, 0)", LoDError, "sequence 2"),
    ("operator.setitem(x, (0, 0), [1, 2, 3])", ShapeError, r"\(3,\)"),
    ("operator.setitem(x, (slice(None), 5), 0)", IndexError, "index 5 .*sequence 0"),
    ("operator.setitem(wide, 0, 1)", ValueError, r"x\[...\]: the values are read-only.*copy\(\).*share=True"),
    ("operator.delitem(x, 0)", TypeError, None),
    ("setattr(x, 'lod', lod)", AttributeError, None),
    ("setattr(x, 'values', rows)", AttributeError, None),
    ("flat.to_regular()", ShapeError, "sequence 1 of level 0.*0.*2"),
    ("x.to_regular()", ShapeError, "sequence 1 of level 0.*0.*2"),
    ("array([[[1], [2, 3]]]).to_regular()", ShapeError, "sequence 1 of level 1.*2.*1"),
    ("flat.to_padded(length=2)", ValueError, "length.*2.*3"),
    ("flat.to_padded(length=-1)", ValueError, "length.*-1.*3"),
    ("flat.to_padded(length=4.0)", DTypeError, "length.*4.0"),
    ("flat.to_padded(length='4')", DTypeError, "length.*'4'"),
    ("flat.to_padded(length=2**62)", MemoryError, None),
    ("flat.to_padded(length=2**70)", MemoryError, None),
    ("flat.to_padded(multiple_of=2**62)", MemoryError, None),
    ("LoDTensor.from_lengths(np.empty((3, 0)), [2, 1]).to_padded(length=2**62)", MemoryError, None),
    ("flat.to_padded(multiple_of=0)", ValueError, "multiple_of.*0"),
    ("flat.to_padded(multiple_of=-2)", ValueError, "multiple_of.*-2"),
    ("flat.to_padded(multiple_of=1.5)", DTypeError, "multiple_of.*1.5"),
    ("flat.to_padded(multiple_of=None)", DTypeError, "multiple_of.*None"),
    ("flat.to_padded(side='middle')", ValueError, "side.*'middle'"),
    ("flat.to_padded(mode='edge')", ValueError, "mode.*'edge'.*replicate"),
    ("flat.to_padded(min_length=1.0)", DTypeError, "min_length.*1.0"),
    ("flat.to_padded(length=(3, 4))", ShapeError, "length: has 2 entries.*1 level"),
    ("x.to_padded(levels=2, min_length=(3,))", ShapeError, "min_length: has 1 entries.*2 levels"),
    ("x.to_padded(levels=2, length=(1, 9))", ValueError, "length: is 1; the longest"),
    ("x.to_padded(levels=2, min_length=(2**62, 1))", MemoryError, None),
    ("flat.to_padded(side=None)", ValueError, "side.*None"),
    ("flat.to_padded(fill_value=[1, 2])", ShapeError, "fill_value"),
    ("wide.to_padded(fill_value=[1, 2, 3])", ShapeError, "fill_value"),
    ("flat.to_padded(levels=2)", LevelError, "levels: is 2; 1 .. 1"),
    ("x.to_padded(levels=0)", LevelError, "levels: is 0; 1 .. 2"),
    ("x.to_padded(levels=1.0)", DTypeError, "levels: is 1.0"),
    (
        "x.to_padded(levels=2, out=np.empty((9, 2), int))",
        ShapeError,
        r"out: shape \(9, 2\); the result has \(3, 2, 3\)",
    ),
    ("flat.to_padded(fill_value=2**70)", DTypeError, "fill_value: is 1180591620717411303424; int64"),
    ("flat.to_padded(fill_value=0.5)", DTypeError, "fill_value: is 0.5; int64"),
    ("flat.to_padded(fill_value=float('nan'))", DTypeError, "fill_value: is nan; int64"),
    ("flat.to_padded(fill_value='a')", DTypeError, "fill_value: is 'a'; int64"),
    ("flat.to_padded(fill_value=None)", DTypeError, "fill_value: is None; int64"),
    ("wide.to_padded(fill_value=None)", DTypeError, "fill_value: is None; float64"),
    ("wide.astype('f4').to_padded(fill_value=1e300)", DTypeError, r"fill_value: is 1e\+300; float32"),
    ("wide.astype('f2').to_padded(fill_value=70000)", DTypeError, "fill_value: is 70000; float16"),
    ("wide.astype('f4').to_padded(fill_value=10**39)", DTypeError, r"fill_value: is 10{39}; float32"),
    ("(wide > 0).to_padded(fill_value=2)", DTypeError, "fill_value: is 2; bool"),
    ("array([['a'], ['bc']]).to_padded(fill_value='long')", DTypeError, "fill_value: is 'long'; <U2"),
    ("LoDTensor([], LoD.from_offsets(num_rows=0)).to_padded()", LevelError, "0"),
    ("LoDTensor(rows, LoD.from_offsets(num_rows=5)).flatten()", LevelError, "0"),
    ("DenseTensor(objects)", DTypeError, "values.*object"),
    ("DenseTensor(None)", DTypeError, "values.*object"),
    ("DenseTensor([[1], [2, 3]])", ShapeError, "values"),
    ("Tensor()", TypeError, "abstract"),
]

NESTED = [
    ("array(None)", DTypeError, "obj.*NoneType"),
    ("array(3)", DTypeError, "obj.*int"),
    ("array('abc')", DTypeError, "obj.*str"),
    ("array({1: [2]})", DTypeError, "obj.*dict"),
    ("array({1, 2})", DTypeError, "obj.*set"),
    ("array(i for i in [[1]])", DTypeError, "obj.*generator"),
    ("array(rows)", DTypeError, "obj.*ndarray"),
    ("array([1, 2])", LoDError, "entry 0.*int"),
    ("array([None])", LoDError, "entry 0.*NoneType"),
    ("array([[1], 2])", ShapeError, "entry 1 at depth 1.*int.*entry 0.*list"),
    ("array([[[1], 2]])", ShapeError, "entry 1 at depth 2.*int.*entry 0.*list"),
    ("array([[1, [2]]])", ShapeError, "entry 1 at depth 2.*list.*entry 0.*int"),
    ("array([[], [[1], []], [[[]], 3]])", ShapeError, "entry 3 at depth 2.*int.*entry 0.*list"),
    ("array([rows, [1]])", ShapeError, "entry 1 at depth 1.*list.*entry 0.*ndarray"),
    ("array([[rows], [1]])", ShapeError, "entry 1 at depth 2.*int.*entry 0.*ndarray"),
    ("array([rows, dense])", ShapeError, r"arrays\[1\].*\(4,\).*\(\)"),
    ("array([rows, objects])", DTypeError, "object"),
    ("array([objects])", DTypeError, "object"),
    ("array([masked])", DTypeError, "masked"),
    ("array([[1, None]])", DTypeError, "obj"),
    ("array([[1, 'a']])", DTypeError, "obj.*value 0.*1"),
    ("array([[b'a', 'b']])", DTypeError, "obj.*value 0.*b'a'"),
    ("array([[{}]])", DTypeError, "obj"),
    ("array([[2**70]])", DTypeError, "obj"),
    ("array([[2**70]], np.int64)", DTypeError, "obj"),
    ("array([['a']], float)", DTypeError, "obj.*'a'"),
    ("array([[1]], object)", DTypeError, "object"),
    ("array([rows], object)", DTypeError, "object"),
    ("array(flat, object)", DTypeError, "object"),
    ("array([[1]], 'nonsense')", DTypeError, "nonsense"),
    ("array(flat, 'nonsense')", DTypeError, "nonsense"),
    ("array([flat, [1]])", ShapeError, "obj: entry 1 is list, entry 0 LoDTensor"),
    ("array([flat, x])", LoDError, "obj: entry 1 has num_levels 2, entry 0 1"),
    ("array([flat, wide])", ShapeError, r"obj: arrays\[1\]: has rows of shape \(2,\)"),
    ("array([flat], num_levels=1)", LoDError, "obj: has num_levels 2; 1 is given"),
    ("array([[1]], num_levels=2)", LoDError, "obj: has num_levels 1; 2 is given"),
    ("array([[[]]], num_levels=1)", LoDError, "obj: has num_levels 2; 1 is given"),
    ("array([[1]], num_levels=0)", LoDError, "num_levels.*0"),
    ("array([[1]], num_levels='1')", LoDError, "num_levels.*'1'"),
    ("array([[1]], num_levels=1.0)", LoDError, "num_levels.*1.0"),
    ("array(flat, num_levels=2)", LoDError, "obj: has num_levels 1; 2 is given"),
    ("array(contains_itself)", LoDError, "contain itself"),
    ("array([contains_itself, contains_itself])", LoDError, "contain itself"),
    ("array([contains_itself, [1]])", (LoDError, ShapeError), "obj"),
    ("array([[1], contains_itself])", (LoDError, ShapeError), "obj"),
]

OPERATORS = [
    ("sequence_pool([1, 2], 'sum')", LoDError, "sequence_pool: x: entry 0 is int"),
    ("sequence_pool([[1], [[2]]], 'sum')", ShapeError, "sequence_pool: x: entry 1 at depth 2 is list, entry 0 int"),
    ("TensorArray.unpack(flat, 5)", LevelError, "tensor_array_unpack: level: is 5; there is 1 level"),
    ("lod.offsets(2)", LevelError, "LoD: level: is 2; there are 2 levels"),
    ("RankTable([0], [1, 2])", ShapeError, "lengths.*2.*1"),
    ("RankTable([0, 1, 0], [1, 1, 1])", LoDError, "indices: is 0 again at position 2"),
    ("RankTable([1, 2], [1, 1])", IndexError, "indices: is 2 at position 1.*2"),
    ("RankTable([-1, 0], [1, 1])", IndexError, "indices: is -1 at position 0.*2"),
    ("RankTable([0, 1], [1, 2])", LoDError, "lengths: is 2 at position 1 after 1"),
    ("RankTable([0, 1], [1, -1])", LoDError, "lengths: is -1 at position 1"),
    ("RankTable(np.array([0.5]), np.array([1]))", (DTypeError, ShapeError, LoDError), None),
]

ARRAYS = [
    ("TensorArray(-1)", IndexError, "size.*-1"),
    ("TensorArray(1.0)", DTypeError, "size.*1.0"),
    ("TensorArray([1, 2])", DTypeError, "size"),
    ("TensorArray(True)", DTypeError, "size.*True"),
    ("TensorArray(dynamic=False)", ValueError, "size.*missing"),
    ("TensorArray(1, unstack_from=[1, 2])", ValueError, "size.*1.*2"),
    ("TensorArray(unstack_from=3)", ShapeError, "unstack_from"),
    ("TensorArray(unstack_from=objects)", DTypeError, "unstack_from.*object"),
    ("fixed.write(2, 1)", IndexError, "index.*2.*2"),
    ("fixed.write(2**70, 1)", IndexError, "index.*1180591620717411303424.*2"),
    ("steps.write(-1, 1)", IndexError, "index.*-1"),
    ("steps.write(-2**63, 1)", IndexError, "index.*-9223372036854775808"),
    ("steps.write(0.0, 1)", DTypeError, "index.*0.0"),
    ("steps.write(None, 1)", DTypeError, "index.*None"),
    ("steps.write([0, 1], 1)", DTypeError, r"index.*\[0, 1\]"),
    ("steps.write(np.array([0.0]), 1)", DTypeError, "index"),
    ("steps.write(np.array([0, 1]), 1)", DTypeError, "index"),
    ("steps.write(0, None)", DTypeError, "tensor_array_write: x: is None"),
    ("steps.write(0, objects)", DTypeError, "tensor_array_write: x: has dtype object"),
    ("steps.write(0, [[1], [2, 3]])", ShapeError, "x: is nested unevenly"),
    ("steps.write(0, masked)", DTypeError, "tensor_array_write: x: is a masked array"),
    ("steps.read(3)", IndexError, "index.*3.*3"),
    ("steps.read(-1)", IndexError, "index.*-1"),
    ("steps.read(2**70)", IndexError, "index.*1180591620717411303424.*3"),
    ("steps.read('0')", DTypeError, "index.*'0'"),
    ("with_hole.read(0)", IndexError, "index.*0.*hole.*2"),
    ("with_hole.stack()", IndexError, "index.*0.*hole.*2"),
    ("with_hole.concat()", IndexError, "index.*0.*hole.*2"),
    ("with_hole.sizes()", IndexError, "index.*0.*hole.*2"),
    ("list(with_hole)", IndexError, "index.*0.*hole.*2"),
    ("TensorArray(2**62).stack()", IndexError, "index.*0.*hole.*4611686018427387904"),
    ("TensorArray(2**62).sizes()", IndexError, "index.*0.*hole.*4611686018427387904"),
    ("TensorArray().stack()", ValueError, "empty"),
    ("TensorArray().concat()", ValueError, "empty"),
    ("steps.stack()", ShapeError, r"element 2.*\(1,\).*\(2,\)"),
    ("pair.stack(1)", (ShapeError, LoDError), "element 1"),
    ("pair.stack(-1)", (ShapeError, LoDError), "element 1"),
    ("uneven.stack()", ShapeError, r"element 1.*\(1, 1\).*\(1, 2\)"),
    ("uneven.concat()", ShapeError, r"element 1.*\(1, 1\).*\(1, 2\)"),
    ("uneven.concat(2)", ShapeError, "axis.*2.*2"),
    ("uneven.concat(-3)", ShapeError, "axis.*-3.*2"),
    ("uneven.sizes(2)", IndexError, "axis.*2.*element 0"),
    ("steps.sizes(-2)", IndexError, "axis.*-2.*element 0"),
    ("TensorArray.unstack(rows).concat()", ShapeError, "axis"),
    ("TensorArray.unstack(rows).stack(2)", ShapeError, "axis.*2"),
    ("TensorArray.unstack(rows, 1)", ShapeError, "axis.*1.*1"),
    ("TensorArray.unstack(rows, -2)", ShapeError, "axis.*-2.*1"),
    ("TensorArray.unstack(3)", ShapeError, "x|axis"),
    ("TensorArray.unstack(flat, 1)", ShapeError, "axis.*1"),
    ("pair.stack(1.0)", DTypeError, "stack: axis: is 1.0"),
    ("TensorArray.unstack(dense).stack(2**40)", ShapeError, "stack: axis: is 1099511627776; the result has 2 axes"),
    ("pair.concat(None)", DTypeError, "concat: axis: is None"),
    ("pair.sizes('a')", DTypeError, "sizes: axis: is 'a'"),
    ("TensorArray.unstack(dense, None)", DTypeError, "unstack: axis: is None"),
    ("split_by_mask(flat, [[True], [False, True]])", ShapeError, "mask: is nested unevenly"),
    ("flat * array([[1]])", LoDError, r"y: has 1 sequences at level 0; x has 3; .* axis=\(0, 1\) .*\(v, 0\)"),
    ("flat[:1] * array([[1], [2], [3]])", LoDError, r"y: has 3 sequences at level 0; x has 1; .* axis=\(0, 1\)"),
    ("x * array([[[1, 2]]])", LoDError, r"y: has 1 sequences at level 0; x has 3; .* axis=\(0, 1, 2\) .*\(v, 0\)"),
    ("array([[[1]], []]) * array([[[1, 2]]])", LoDError, r"has 1 sequences at level 0; .* axis=\(0, 1, 2\)"),
    ("x * array([[[1]], [[1]], [[1]]])", LoDError, r"sequence 0 of level 0 has length 1; .* axis=\(1, 2\) .*\(v, 0\)"),
    ("x * array([[[1], [1]], [], [[1]]])", LoDError, "sequence 0 of level 1 has length 1; that of x has 2$"),
    ("argcartesian(rows, flat)", DTypeError, "argcartesian: x: is ndarray"),
    ("argcartesian(flat, rows)", DTypeError, "argcartesian: y: is ndarray"),
    ("explode(rows)", DTypeError, "explode: x: is ndarray"),
    *[
        (f"ops.{name}(SparseTensor([0], [1.0], 3))", DTypeError, rf"{name}: x: is a SparseTensor; .*to_dense\(\)")
        for name in ("sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "average")
    ],
    ("TensorArray(unstack_from=dense[:0]).stack(2)", ShapeError, "axis: is 2; the result has 2 axes"),
    ("TensorArray(unstack_from=dense[:0]).stack(-3)", ShapeError, "axis: is -3; the result has 2 axes"),
    ("TensorArray(unstack_from=dense[:0]).concat(1)", ShapeError, "axis: is 1; elements have 1 axes"),
    ("TensorArray(unstack_from=dense[:0, 0]).concat()", ShapeError, "axis: elements have no axis; use stack"),
    ("TensorArray(unstack_from=dense[:0, 0]).concat(False)", ShapeError, "axis: elements have no axis; use stack"),
    ("join_by_key(flat, flat, [1, 2], [1, 2, 3])", ShapeError, "join_by_key: x: has 3 rows; there are 2 keys"),
    ("join_by_key(flat, rows, [1, 2, 3], [1, 2])", ShapeError, "join_by_key: y: has 5 rows; there are 2 keys"),
    ("group_by([1, 2], rows)", ShapeError, "group_by: column 0: has 5 rows; there are 2 keys"),
    ("group_by([1, 2, 3], flat, rows)", ShapeError, "group_by: column 1: has 5 rows; there are 3 keys"),
    ("TensorArray.unstack([[1], [2, 3]])", ShapeError, "x: is nested unevenly"),
    ("np.isin(flat, [[1], [2, 3]])", ShapeError, "numpy.isin: test_elements: is nested unevenly"),
    ("np.interp(flat, [[1], [2, 3]], [1])", ShapeError, "numpy.interp: xp: is nested unevenly"),
    ("np.roll(flat, [[1], [2, 3]], axis=1)", ShapeError, "numpy.roll: shift: is nested unevenly"),
    ("np.diff(flat, prepend=[[1], [2, 3]], axis=1)", ShapeError, "numpy.diff: prepend: is nested unevenly"),
    ("np.take(flat, [[1], [2, 3]], axis=0)", ShapeError, "numpy.take: indices: is nested unevenly"),
    ("TensorArray.unstack(masked)", DTypeError, "x: is a masked array"),
    ("TensorArray.unstack(objects)", DTypeError, "x.*object"),
    ("TensorArray.unstack(None)", DTypeError, "tensor_array_unstack: x: is None"),
    ("mixed.stack()", LoDError, "element 0.*element 1"),
    ("mixed.concat()", LoDError, "element 0.*element 1"),
    ("pair.concat(1)", ShapeError, "axis.*1"),
    ("TensorArray.unpack(rows, 0)", DTypeError, "x.*ndarray"),
    ("TensorArray.unpack(None, 0)", DTypeError, "tensor_array_unpack: x: is None"),
    ("TensorArray.unpack(LoDTensor(rows, LoD.from_offsets(num_rows=5)), 0)", LevelError, "0"),
    ("TensorArray.unpack(LoDTensor.from_lengths(np.empty((2**40, 0)), [2**40]), 0)", MemoryError, None),
    ("steps.pack(0, None)", DTypeError, "indices_map.*NoneType"),
    ("steps.pack(0, [0, 2, 3, 1, 4])", DTypeError, "indices_map.*list"),
    ("steps.pack(0, inner_map)", LoDError, "indices_map.*steps|indices_map.*elements"),
    ("inner_steps.pack(1, inner_map)", LoDError, "level.*1.*0"),
    ("inner_steps.pack(-1, inner_map)", LoDError, "level.*-1.*0"),
    (
        "steps.pack(0, TensorArray.unpack([[1, 2, 3], [4, 5, 6]], 0)[1])",
        LoDError,
        "ta: has 1 elements at step 2; indices_map has 2",
    ),
    ("steps.pack(0, TensorArray.unpack([[1]], 0)[1])", LoDError, "indices_map.*1 steps.*3"),
    ("with_hole.pack(0, steps_map)", IndexError, "index.*0.*hole.*2"),
    (
        "TensorArray.unstack(rows).pack(0, TensorArray.unpack([[1]] * 5, 0)[1])",
        IndexError,
        "element 0: has no axis",
    ),
    ("IndicesMap(lod, 0, [1], [2])", (DTypeError, LoDError, TypeError), None),
]

PICKLES = [
    ("rebuilt(lod, 6, [0, 2, 2, 3], [0, 2, 3, 5])", LoDError, r"offsets\[1\].*5 at position 3.*6"),
    ("rebuilt(lod, 6, [0, 2, 2, 3], [0, 2, 1, 6])", LoDError, r"offsets\[1\].*position 2 \(2 -> 1\)"),
    ("rebuilt(lod, 6, [0, 2, 2, 4], [0, 2, 3, 6])", LoDError, r"offsets\[0\].*4 at position 3.*3"),
    ("rebuilt(lod, 6, [], [0, 2, 3, 6])", LoDError, r"offsets\[0\].*empty"),
    ("rebuilt(lod, 6, None)", (DTypeError, ShapeError), r"offsets\[0\]"),
    ("rebuilt(lod, -1)", LoDError, "num_rows.*-1"),
    ("rebuilt(lod, 'a', [0])", DTypeError, "num_rows.*'a'"),
    ("rebuilt(lod)", TypeError, None),
    ("rebuilt(flat, rows[:4], flat.lod)", LoDError, "values.*4.*5"),
    ("rebuilt(flat, objects, flat.lod)", DTypeError, "values.*object"),
    ("rebuilt(flat, rows, None)", DTypeError, "lod.*NoneType"),
    ("rebuilt(flat, rows, [0, 5])", DTypeError, "lod.*list"),
    ("rebuilt(flat, np.array(3), flat.lod)", ShapeError, "values.*no axis"),
    ("rebuilt(flat, rows)", TypeError, None),
    ("rebuilt(steps_map, flat.lod, 1, [0, 1, 2])", LevelError, "1"),
    ("rebuilt(steps_map, flat.lod, 0, [0, 1])", LoDError, "order.*3"),
    ("rebuilt(steps_map, flat.lod, 0, [0, 1, 1])", LoDError, "order.*3"),
    ("rebuilt(steps_map, flat.lod, 0, [0, 1, 3])", LoDError, "order.*3"),
    ("rebuilt(steps_map, flat.lod, 0, [0, 1, -1])", LoDError, "order.*3"),
    ("rebuilt(steps_map, flat.lod, 0, [0.0, 1.0, 2.0])", DTypeError, "order.*float64"),
    ("rebuilt(steps_map, flat, 0, [0, 1, 2])", DTypeError, "lod.*LoDTensor"),
    ("rebuilt(steps_map, None, 0, [0, 1, 2])", DTypeError, "lod.*NoneType"),
]

REDUCTIONS = [
    ("ops.mean(flat, 1, int)", DTypeError, "mean: dtype: is int64; x has int64, and floats are needed"),
    ("ops.sum(flat, 1, 'S1')", DTypeError, "sum: dtype: is .S1; .*numbers are needed"),
    ("ops.max(flat, initial=[1, 2])", DTypeError, r"max: initial: has shape \(2,\); a number is needed"),
    ("ops.max(flat, empty=[1, 2])", DTypeError, r"max: empty: has shape \(2,\); a number is needed"),
    ("ops.prod(flat.astype('c16'), 1)", DTypeError, "prod: x: has dtype complex128; along axes of levels real"),
    ("moment(flat, -1)", ValueError, "moment: n: is -1; 0 or more is needed"),
    ("moment(flat, 0.5)", DTypeError, "moment: n: is 0.5"),
    (
        "sequence_gaps(flat * 1.0, np.timedelta64(30, 'ns'))",
        DTypeError,
        "sequence_gaps: gap: is .*; a number is needed",
    ),
    ("sequence_gaps(flat, np.timedelta64(30, 'm'))", DTypeError, "sequence_gaps: gap: is .*; a number is needed"),
    ("flat.to_padded(np.timedelta64(3, 'ns'))", DTypeError, "fill_value: is .*; int64 cannot hold it"),
    ("(flat * 1.0).pool('max', np.timedelta64(3, 'ns'))", DTypeError, "pad_value: is .*; float64 cannot hold it"),
    (
        "array([['2020-01-01']], 'M8[D]').to_padded(np.datetime64('2021-01-01T05'))",
        DTypeError,
        "datetime64.* cannot hold",
    ),
    (
        "operator.setitem(array([['2020-01-01']], 'M8[D]'), 0, np.datetime64('2021-01-01T05'))",
        DTypeError,
        "value: is .*; datetime64.* cannot hold it",
    ),
    ("ops.sequence_resample(flat, 2**62)", MemoryError, "^sequence_resample: .*4611686018427387904"),
    ("np.tile(flat, 2**50)", MemoryError, "^tile: .*1125899906842624"),
    ("batching.sample_by_temperature([1, 2**62])", MemoryError, "the order of source 1.*4611686018427387904"),
    ("ops.first_levels(x, 2**62)", LevelError, "first_levels: count: is 4611686018427387904; x has 2 levels"),
    ("ops.first_levels(flat, None)", DTypeError, "first_levels: count: is None; an integer"),
    ("ops.Kind(None)", DTypeError, "Kind: kind: is None; a class is needed"),
    ("LoDTensor.from_arrays(np.array(3))", DTypeError, "from_arrays: arrays: is ndarray; a list is needed"),
    ("flat.to_padded(mode=objects)", ValueError, r"to_padded: mode: is array\(\[1, 'a'\].*\); \"constant\" or"),
    ("merge_by_mask([[1], [2]], [[3]], [[True], [False, True]])", ShapeError, "mask: is nested unevenly"),
    ("batching.pack_stream(np.array(3), 4)", DTypeError, "pack_stream: source: is ndarray; an iterable of items"),
    ("batching.pack_plan([3], 4).undo(np.array(3))", DTypeError, "PackPlan.undo: y: is ndarray; a LoDTensor or nested"),
    ("batching.chunk_plan([3], 4).undo(np.array(3))", DTypeError, "ChunkPlan.undo: y: is ndarray; a LoDTensor or nest"),
    (
        "batching.batches([3], 4).load_state_dict({**batching.batches([3], 4).state_dict(), 'world_size': rows})",
        ValueError,
        r"load_state_dict: state: world_size is \[0 1 2 3 4\]; this plan has 1",
    ),
    ("Executor().run(Program(), fetch=np.array(3))", DTypeError, "Executor.run: fetch: is ndarray; a"),
    (
        "graph.var_get_mutable(Variable('x', 1.0), LoDTensor, np.ones(2))",
        DTypeError,
        "var_get_mutable: enable_inheritance: is ndarray; True or False",
    ),
    ("ops.first_levels(flat, -1)", LevelError, "first_levels: count: is -1; x has 1 level"),
    ("ops.bitwise_reduce(flat, 'or', keepdims=True)", TypeError, "bitwise_reduce: keepdims: is not supported"),
    ("ops.quantile(rows, 0.5)", TypeError, "quantile: x: has no levels; use numpy.quantile"),
    ("ops.quantile(rows, 0.5, skip_nan=True)", TypeError, "quantile: x: has no levels; use numpy.nanquantile"),
    (
        "ops.quantile(LoDTensor(np.zeros((5, 2, 2)), flat.lod), 0.5, (1, 2))",
        TypeError,
        r"quantile: axis: is \(1, 2\); axes of levels, and of rows all or none, are possible",
    ),
    ("ops.quantile(flat, 0.5, keepdims=True)", TypeError, "quantile: keepdims: needs an axis"),
    ("ops.quantile(x, [0.5], 0, keepdims=True)", TypeError, "keepdims: goes with one quantile along axis 0"),
    ("flat.argmax(keepdims=True)", TypeError, "^argmax: keepdims: needs an axis"),
    ("ops.argmin(x, keepdims=True)", TypeError, "^argmin: keepdims: needs an axis"),
    ("ops.nanargmin(x * 1.0, keepdims=True)", TypeError, "^nanargmin: keepdims: needs an axis"),
    ("ops.nanargmax(x * 1.0, keepdims=True)", TypeError, "^nanargmax: keepdims: needs an axis"),
    ("ops.nanargmax(x * 1.0, 0, out=rows)", TypeError, "nanargmax: out: is not supported; the result is a new tensor"),
]

FUNCTIONS = [
    ("graph.map_fn(3, x)", DTypeError, "^map_fn: f: is int; a function is needed"),
    ("map_sequences(None, flat)", DTypeError, "^map_sequences: f: is NoneType; a function is needed"),
    ("vjp(3, flat)", DTypeError, "^vjp: f: is int; a function is needed"),
    ("value_and_grad('a')", DTypeError, "^value_and_grad: f: is str; a function is needed"),
    ("value_and_grad(ops.sum, argnums='a')", DTypeError, "^value_and_grad: argnums: is 'a'; an integer is needed"),
    ("value_and_grad(ops.sum, (0, 1.0))", DTypeError, "^value_and_grad: argnums: is 1.0; an integer is needed"),
    ("nn.dynamic_rnn(3, None, flat, dense)", DTypeError, "^dynamic_rnn: cell: is int; a function is needed"),
    ("batching.batch_stream([[1]], 10, length=3)", DTypeError, "^batch_stream: length: is int; a function is needed"),
    ("list(batching.batch_stream([1], 10))", DTypeError, "^batch_stream: source: has an int, which has no length"),
    ("batching.batches((i for i in [1]), 10)", DTypeError, "^batches: lengths: is a generator; an array or a list"),
    ("batching.batches({1, 2}, 10)", DTypeError, "^batches: lengths: is a set; an array or a list"),
    ("flat.per_sequence([1, 2])", LoDError, "^per_sequence: v: has 2 rows; level 0 of x has 3 sequences"),
    ("ops.per_sequence(rows, [1, 2])", DTypeError, "^per_sequence: x: is ndarray"),
    ("flat.per_sequence(None)", DTypeError, "^per_sequence: v: is None"),
    ("map_sequences(np.max, flat)", ValueError, "^map_sequences: f: in sequence 1: zero-size array"),
    ("graph.Program().var('w')", KeyError, "Program.var: name: is 'w'; the Program has no Variable"),
    ("nn.GRU(3, 4).init()", TypeError, r"^init\(\) missing 1 .*'rng'"),
    ("pow(flat, 2, 3)", TypeError, r"^unsupported operand type\(s\) for \*\* or pow\(\): 'LoDTensor', 'int', 'int'"),
    ("masked in flat", DTypeError, "masked array"),
]

TABLE = FUNCTIONS + OFFSETS + STRUCTURE + TENSORS + NESTED + OPERATORS + REDUCTIONS + ARRAYS + PICKLES

BOMBS = ["array([], num_levels=2**62)", "array([[]], num_levels=2**70)"]  # run only under a memory limit


def content(thing):
    """Return everything observable about an object."""
    if isinstance(thing, (LoD, LoDTensor, TensorArray, np.ndarray)):
        return pickle.dumps(thing)
    return repr(thing)


def assert_refused(call, names, error, says):
    """Check that a call raises exactly this error, and does not change its arguments."""
    before = {name: content(thing) for name, thing in names.items()}
    with pytest.raises(error, match=says) as caught:
        run(call, names)
    allowed = error if isinstance(error, tuple) else (error,)
    assert caught.type in allowed or MemoryError in allowed, caught.type
    after = {name: content(thing) for name, thing in names.items()}
    assert after == before
    assert names["steps"].pack(0, names["steps_map"]).equals(names["flat"])


def assert_all_refused(rows, **more):
    """Check many wrong calls (call, error, pattern), each with new objects, and report all that differ."""
    wrong = []
    for call, error, says in rows:
        try:
            assert_refused(call, {**things(), **more}, error, says)
        except (Exception, pytest.fail.Exception) as failure:
            wrong.append(f"{call}: {type(failure).__name__}: {failure}")
    assert not wrong, "\n".join(wrong)


#: Correct calls with the objects of `things` and a few more.
RIGHT = [
    *("LoD.from_offsets([0, 2], [0, 1, 2])", "LoD.from_lengths([2, 0], [1, 3])", "LoD.from_segment_ids([0, 0, 2])"),
    *("LoD.from_row_offsets([0, 3], [0, 1, 3])", "lod.offsets(1)", "lod.lengths(1)", "lod.row_offsets(0)"),
    *("lod.segment_ids(0)", "lod.positions(1)", "lod.split()", "lod.take([0, 2])", "lod.take([0, 2], 1)"),
    *("lod.slice(1, 3)", "lod.concat(lod)", "lod.append(lengths=[1] * 6)", "lod.drop(0)", "lod.drop(1)"),
    *("lod == lod.take([0, 1, 2])", "hash(lod.take([0, 1]))", "repr(lod)", "lod.num_sequences(-1)"),
    *("LoDTensor(rows, flat.lod)", "LoDTensor.from_lengths(rows, [5])", "LoDTensor.from_offsets(rows, [0, 5])"),
    *("LoDTensor.from_segment_ids(rows, rows)", "LoDTensor.from_starts_stops(rows, [0, 1], [2, 5])"),
    *("LoDTensor.from_arrays([rows, rows])", "LoDTensor.from_arrays([[1], [2.5]])"),
    *("LoDTensor.from_padded(dense, [1, 0, 4])", "LoDTensor.from_padded(dense, mask=dense == 0)"),
    *("x[1]", "flat[0]", "flat[1:]", "list(x)", "list(flat)", "x.tolist()", "x.to_arrays()", "x.flatten()", "repr(x)"),
    *("wide.to_padded()", "flat.to_padded(-1, 'left', 5, 2, True)", "array([[1, 2], [3]]).to_padded()"),
    *("wide[:1].to_regular()", "wide.clone()", "wide.equals(wide)", "wide.shape", "wide.lengths", "wide.offsets"),
    *("array([[[1, 2]], []])", "array([rows, rows])", "array(flat)", "array([['a']])"),
    *("gather_sequences(x, [2, 0])", "gather_sequences(x, [2, 0], 1)", "gather_sequences(wide, rows[:2])"),
    *("concat_batches([x, x])", "sequence_slice(flat, 0, [1, 0, 2])", "sequence_slice(x, 0, 0, 0)"),
    *(
        "lod_rank_table(x)",
        "reorder_by_rank(flat, table)",
        "shrink_memory(reorder_by_rank(flat, table), 0, table)",
        "repr(table)",
    ),
    *("TensorArray.unpack(wide, 0)", "TensorArray.unpack(x, 0, False)", "steps.pack(0, steps_map)"),
    *("inner_steps.pack(0, inner_map)", "rewritten.pack(0, steps_map)", "list(steps)", "steps.sizes()"),
    *("steps.concat()", "pair.concat()", "pair.stack()", "TensorArray.unstack(dense).stack(1)", "steps_map.clone()"),
    *("TensorArray().write(0, rows)", "TensorArray.unpack(flat, 0)[1].tolist()", "DenseTensor(rows).clone()"),
]
WRONG = [
    *("LoD.from_offsets([0, 2, 1])", "LoD.from_lengths([1, -1])", "LoD.from_segment_ids([1, 0])", "lod.take([9])"),
    *("LoD.from_row_offsets([0, 3], [0, 2, 5])", "lod.append(lengths=[-1])", "lod.concat(flat.lod)", "lod.drop(5)"),
    *("LoDTensor(rows, lod)", "LoDTensor.from_starts_stops(rows, [0], [9])", "LoDTensor.from_arrays([rows, dense])"),
    *("LoDTensor.from_padded(dense, [9, 9, 9])", "x[9]", "x['a']", "flat.to_padded(length=1)", "np.asarray(x)"),
    *("array([[1], 2])", "array([[1, None]])", "array([rows, dense])", "gather_sequences(x, [0, 9])"),
    *("gather_sequences(x, [0.5])", "concat_batches([flat, wide])", "sequence_slice(flat, 9, 9)", "lod_rank_table(3)"),
    *("reorder_by_rank(rows, table)", "shrink_memory(flat, -1, table)", "TensorArray.unpack(flat, 7)"),
    *("steps.pack(0, inner_map)", "with_hole.stack()", "mixed.concat()", "uneven.stack()", "steps.read(9)"),
    *("gather_sequences(x, [0], out=rows)", "LoDTensor.from_lengths([1], [1 << 62, 1 << 62])", "hash(x)"),
]
