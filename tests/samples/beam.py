"""Samples of a step of a beam search, and of decoding all steps."""

import numpy as np
from hypothesis import strategies as st

from lodcore import DTypeError, LevelError, LoD, LoDError, LoDTensor, ShapeError, TensorArray
from reference.ops import beam as oracle
from tests.helpers.agree import elements_of
from tests.helpers.draw import composite, integers, lods, read_only, sampled_from
from tests.samples import Samples, call

INTEGERS = ["i8", "i8", "i4", "u1"]
END = 2


@composite
def step_calls(draw):
    lod = draw(lods(1, 3, most=5))
    level = draw(integers(-lod.num_levels, lod.num_levels - 1))
    random = np.random.default_rng(draw(integers(0, 2**32)))
    count, columns, dtype = lod.num_rows, draw(sampled_from([0, 1, 2, 3, 9])), draw(sampled_from(["f4", "f8"]))
    accumulated = draw(sampled_from([True, True, False]))
    if accumulated:
        scores, before = random.integers(-4, 1, (count, columns)) / 2, random.integers(-4, 1, count) / 2
    else:  # sums of logarithms of different prefixes are far apart
        scores, before = 2.0 ** -random.integers(0, 100, (count, columns)), random.permutation(count) * 0.0117
    pre_ids = random.choice([END, END, 0, 1, 7], count).astype(draw(sampled_from(INTEGERS)))
    ids = random.integers(0, 9, (count, columns)).astype(draw(sampled_from(INTEGERS)))
    scores = LoDTensor(read_only(scores.astype(dtype)), lod)
    before = read_only(before.astype(dtype if draw(st.booleans()) else "f8"))
    forms = st.sampled_from([lambda x: x, lambda x: x.reshape(-1, 1), lambda x: LoDTensor(x, lod)])
    pre_ids, before = draw(forms)(read_only(pre_ids)), draw(forms)(before)
    ids = draw(sampled_from([None, read_only(ids), LoDTensor(read_only(ids), lod)]))
    beam_size = draw(sampled_from([1, 2, 3, 4, 50, 2**70]))
    return call(pre_ids, before, ids, scores, beam_size, END, level, accumulated)


@composite
def smooth_step_calls(draw):
    """Draw scores that differ by more than a step of a numerical derivative."""
    lod = draw(lods(1, 3, most=4))
    random = np.random.default_rng(draw(integers(0, 2**32)))
    count, columns, accumulated = lod.num_rows, draw(sampled_from([1, 2, 3])), draw(st.booleans())
    numbers = random.permutation(count * columns).reshape(count, columns) + 1.0
    scores, before = numbers / (count * columns + 1), random.permutation(count) * 0.117 + 0.013
    pre_ids = random.choice([END, 0, 1, 7], count)
    ids = draw(sampled_from([None, random.integers(0, 3, (count, columns))]))
    beam_size, level = draw(sampled_from([1, 2, 50])), draw(integers(0, lod.num_levels - 1))
    before = draw(sampled_from([before, before.reshape(-1, 1)]))
    return call(pre_ids, before, ids, LoDTensor(scores, lod), beam_size, END, level, accumulated)


def flat(x):
    """Return one number per prefix as a list."""
    return np.ravel(getattr(x, "values", x)).tolist()


def in_rows(nested, column, depth):
    """Put numbers below a number of levels into lists of one, if rows are columns."""
    if not column:
        return nested
    return [in_rows(one, column, depth - 1) for one in nested] if depth else [nested]


def selected(arguments):
    scores, given = arguments["scores"], {name: flat(arguments[name]) for name in ("pre_ids", "pre_scores")}
    if arguments["pre_scores"].dtype != scores.dtype:
        given["pre_scores"] = np.asarray(given["pre_scores"], scores.dtype).tolist()
    ids = arguments["ids"]
    level = arguments["level"] % scores.num_levels
    ids, values, parents = oracle.beam_search(
        **given,
        ids=ids if ids is None else getattr(ids, "values", ids).tolist(),
        scores=scores.tolist(),
        beam_size=arguments["beam_size"],
        end_id=arguments["end_id"],
        level=level,
        is_accumulated=arguments["is_accumulated"],
        num_levels=scores.num_levels,
    )
    columns = [getattr(arguments[name], "values", arguments[name]).ndim == 2 for name in ("pre_ids", "pre_scores")]
    depth = level + 3
    return in_rows(ids, columns[0], depth), in_rows(values, columns[1], depth), parents


@composite
def decode_calls(draw):
    n_sources, random = draw(integers(0, 3)), np.random.default_rng(draw(integers(0, 2**32)))
    prefixes = random.integers(0, 3, n_sources)
    dtypes = draw(sampled_from(INTEGERS)), draw(sampled_from(["f4", "f8"]))
    column = draw(st.booleans())
    ids, scores = [], []
    for _ in range(draw(integers(1, 4))):
        kept = random.choice([0, 1, 1, 2, 3], prefixes.sum())
        lod = LoD.from_lengths(prefixes, kept)
        made = [random.choice([END, END, 0, 1, 5], kept.sum()), random.integers(-3, 1, kept.sum()) / 2]
        made = [x.astype(dtype) for x, dtype in zip(made, dtypes, strict=True)]
        made = [read_only(x.reshape(-1, 1) if column else x) for x in made]
        ids.append(LoDTensor(made[0], lod))
        scores.append(LoDTensor(made[1], lod))
        ends = np.cumsum(prefixes)
        prefixes = np.array([kept[stop - n : stop].sum() for stop, n in zip(ends, prefixes, strict=True)], np.int64)
    beam_size, end_id = draw(sampled_from([1, 2, 3, 100, 2**70])), draw(sampled_from([END, END, 0, -1, 2**70]))
    if draw(st.booleans()):
        ids, scores = (TensorArray.of_elements(len(x), dict(enumerate(x))) for x in (ids, scores))
    return call(ids, scores, beam_size, end_id)


def decoded(arguments):
    given = []
    for name in ("ids_array", "scores_array"):
        steps = arguments[name]
        steps = elements_of(steps) if isinstance(steps, TensorArray) else steps
        column = steps[0].values.ndim == 2
        given.append([LoDTensor(x.values.reshape(-1), x.lod).tolist() for x in steps])
    found = oracle.beam_search_decode(*given, arguments["beam_size"], arguments["end_id"])
    return tuple(in_rows(one, column, 3) for one in found)


STEP = "beam_search([1, 1, 1, 1, 1], {}, None, wide, 2, 0)"
PAIR = "LoDTensor({}, LoD.from_lengths([1, 1], [1, 2]))"
MORE = "LoDTensor(np.arange(4), LoD.from_lengths([2, 2], [1, 1, 1, 1]))"
COLUMNS = PAIR.format("np.ones((3, 1, 1), int)")
IDS, SCORES = PAIR.format("np.array([1, 2, 3])"), PAIR.format("np.zeros(3)")
COSTS = """
lodcore.beam_search([1, 1], [0.0, 0.0], None, LoDTensor.from_lengths(np.stack([v, v]), [2]), len(v) // 2 + 1, 0)
"""
SAMPLES = {
    "beam_search": Samples(
        step_calls(),
        selected,
        smooth_step_calls(),
        [
            ("beam_search(1, 0.0, None, rows.reshape(5, 1) / 2, 2, 0)", LoDError, "scores: has no LoD"),
            ("beam_search(1, 0.0, None, LoDTensor(dense, LoD.from_offsets(num_rows=3)), 2, 0)", LoDError, "no LoD"),
            ("beam_search(1, 0.0, None, wide, 0, 0)", ValueError, "beam_size: is 0; 1 or more"),
            ("beam_search(1, 0.0, None, wide, -3, 0)", ValueError, "beam_size: is -3"),
            ("beam_search(1, 0.0, None, wide, 2.0, 0)", DTypeError, "beam_size: is 2.0"),
            ("beam_search(1, 0.0, None, wide, 2, 'a')", DTypeError, "end_id: is 'a'"),
            ("beam_search(1, 0.0, None, wide, 2, 2**63)", ValueError, "end_id: is 9223372036854775808; .* int64"),
            ("beam_search(np.ones(5, 'u8'), np.zeros(5), None, wide, 2, 2**63)", ValueError, "0 .. 922337203685477580"),
            ("beam_search(rows, np.zeros(5, 'f2'), None, wide.astype('f2'), 2, 0)", DTypeError, "scores: .* float16"),
            ("beam_search(np.ones(5, 'u1'), 0.0, None, wide, 2, -1)", ValueError, "end_id: is -1; 0 .. 255 .* uint8"),
            ("beam_search(1, 0.0, None, wide, 2, 0, level=1)", LevelError, "level: is 1; there is 1 level"),
            ("beam_search([1, 1], 0.0, None, wide, 2, 0)", ShapeError, "pre_ids: has 2 entries; scores has 5 rows"),
            ("beam_search(np.ones((5, 1, 1), int), 0.0, None, wide, 2, 0)", ShapeError, r"pre_ids: .* \(5, 1, 1\)"),
            ("beam_search(1, np.ones((5, 1, 1)), None, wide, 2, 0)", ShapeError, r"pre_scores: .* \(5, 1, 1\)"),
            (
                "beam_search(1, 0.0, None, LoDTensor(np.zeros((0, 2**31)), LoD.from_lengths([0])), 2, 0)",
                ValueError,
                "most",
            ),
            (
                "beam_search(1, 0.0, None, LoDTensor(np.zeros((2**31, 0)), LoD.from_lengths([2**31])), 2, 0)",
                ValueError,
                "most",
            ),
            ("beam_search(1, np.ones((5, 2)), None, wide, 2, 0)", ShapeError, r"pre_scores: has shape \(5, 2\)"),
            ("beam_search(np.ones((5, 2), int), 0.0, None, wide, 2, 0)", ShapeError, r"pre_ids: has shape \(5, 2\)"),
            ("beam_search(1.5, 0.0, None, wide, 2, 0)", DTypeError, "pre_ids: has dtype float64"),
            ("beam_search([True] * 5, 0.0, None, wide, 2, 0)", DTypeError, "pre_ids: has dtype bool"),
            ("beam_search(None, 0.0, None, wide, 2, 0)", DTypeError, "pre_ids: is None"),
            (STEP.format("[0.0]"), ShapeError, "pre_scores: has 1 entries; scores has 5 rows"),
            (STEP.format("1j"), DTypeError, "pre_scores: has dtype complex128"),
            (STEP.format("None"), DTypeError, "pre_scores: is None"),
            ("beam_search(1, 0.0, rows, wide, 2, 0)", ShapeError, r"ids: has shape \(5,\); scores has \(5, 2\)"),
            ("beam_search(1, 0.0, np.ones((5, 3), int), wide, 2, 0)", ShapeError, r"ids: has shape \(5, 3\)"),
            ("beam_search(1, 0.0, np.ones((5, 2)), wide, 2, 0)", DTypeError, "ids: has dtype float64"),
            (
                "beam_search(1, 0.0, np.full((5, 2), 2**63, 'u8'), wide, 2, 0)",
                IndexError,
                "ids.*9223372036854775808 at position 0",
            ),
            ("beam_search(1, 0.0, None, flat, 2, 0)", DTypeError, "scores: has dtype int64"),
            (
                "beam_search(1, 0.0, None, LoDTensor(rows / 2, flat.lod), 2, 0)",
                ShapeError,
                r"scores: has rows of shape \(\)",
            ),
            (
                "beam_search(np.ones(5, 'i1'), 0.0, None, LoDTensor(np.zeros((5, 200)), flat.lod), 2, 0)",
                ValueError,
                "scores: has 200 columns; int8",
            ),
        ],
        exact=False,
    ),
    "beam_search_decode": Samples(
        decode_calls(),
        decoded,
        None,
        [
            ("beam_search_decode(TensorArray(), TensorArray(), 2, 0)", ValueError, "ids_array: has no steps"),
            ("beam_search_decode([], [], 2, 0)", ValueError, "ids_array: has no steps; at least one"),
            (f"beam_search_decode([{IDS}], [{SCORES}], 0, 0)", ValueError, "beam_size: is 0; 1 or more"),
            (f"beam_search_decode([{IDS}], [{SCORES}], 1.5, 0)", DTypeError, "beam_size: is 1.5"),
            (f"beam_search_decode([{IDS}], [{SCORES}], 1, None)", DTypeError, "end_id: is None"),
            (
                f"beam_search_decode([{COLUMNS}], [{SCORES}], 1, 0)",
                ShapeError,
                r"ids_array: has rows of shape \(1, 1\)",
            ),
            (f"beam_search_decode([{IDS}], [{COLUMNS} / 2], 1, 0)", ShapeError, r"scores_array: .* \(1, 1\)"),
            (f"beam_search_decode([{IDS}], [], 1, 0)", ValueError, "scores_array: has no steps"),
            (
                f"beam_search_decode([{IDS}], [{SCORES}, {PAIR.format('np.ones(3)')}], 1, 0)",
                ValueError,
                "scores_array: has 2 steps; ids_array has 1",
            ),
            (f"beam_search_decode([{IDS}, {IDS}], [{SCORES}, {SCORES}], 1, 0)", LoDError, "step 1 has 1 prefixes of"),
            (
                f"beam_search_decode([{IDS}, {MORE}], [{SCORES}, {MORE} / 1.0], 1, 0)",
                LoDError,
                "ids_array: step 1 has 2 prefixes of source 0; step 0 has kept 1",
            ),
            (f"beam_search_decode([{IDS}, x], [{SCORES}, {SCORES}], 1, 0)", LoDError, "step 1 has 3 sources; step 0"),
            (f"beam_search_decode([flat], [{SCORES}], 1, 0)", LoDError, "ids_array: step 0 has 1 level; 2 are needed"),
            (f"beam_search_decode([rows], [{SCORES}], 1, 0)", DTypeError, r"ids_array\[0\]: is ndarray"),
            (
                f"beam_search_decode(TensorArray(unstack_from=dense), [{SCORES}], 1, 0)",
                LoDError,
                "ids_array: step 0 has 0 levels; 2 are",
            ),
            (f"beam_search_decode([x], [{SCORES}], 1, 0)", LoDError, "scores_array: has different LoDs from ids_array"),
            (f"beam_search_decode([{SCORES}], [{SCORES}], 1, 0)", DTypeError, "ids_array: has dtype float64"),
            (f"beam_search_decode([{IDS}], [{IDS}], 1, 0)", DTypeError, "scores_array: has dtype int64"),
            (
                f"beam_search_decode([{IDS}], [{PAIR.format('np.zeros((3, 2))')}], 1, 0)",
                ShapeError,
                r"scores_array: has rows of shape \(2,\)",
            ),
            ("beam_search_decode(3, 4, 1, 0)", DTypeError, "ids_array: is int|ta: is int"),
            (
                f"beam_search_decode(TensorArray.of_elements(2, {{1: {IDS}}}), [{SCORES}] * 2, 1, 0)",
                IndexError,
                "ids_array.* 0",
            ),
            (
                f"beam_search_decode([{PAIR.format('np.full(3, 2**63, np.uint64)')}], [{SCORES}], 1, 0)",
                IndexError,
                "ids_array.*9223372036854775808",
            ),
        ],
    ),
}
