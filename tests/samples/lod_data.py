"""Samples of the operators that return structure as tensors."""

from hypothesis import strategies as st

from lodcore import DTypeError, IndicesMap, LevelError, LoDTensor, RankTable, ShapeError, TensorArray
from reference.ops.levels import at_level, each_at_level, positions, segment_ids, sequences
from tests.helpers.agree import from_the_first, numbered
from tests.helpers.draw import composite, integers, lod_tensors, sampled_from
from tests.samples import Samples, call


@composite
def structures(draw):
    x = draw(lod_tensors(max_levels=3, most=5))
    level = draw(integers(-x.num_levels, x.num_levels - 1))
    return call(draw(sampled_from([x, x.lod])), level)


def known(arguments):
    """Return the structure as nested lists, the level, and the number of levels."""
    x = arguments["x"]
    lod = x.lod if isinstance(x, LoDTensor) else x
    return numbered(lod), from_the_first(arguments["level"], lod), lod.num_levels


def nested_lengths(arguments):
    nested, level, _ = known(arguments)
    return at_level(len, nested, level)


def per_row(oracle):
    def expected(arguments):
        nested, level, num_levels = known(arguments)
        return each_at_level(oracle(nested, level, num_levels), nested, num_levels)

    return expected


def wrong(name):
    return [
        (f"{name}(x, 2)", LevelError, "level: is 2; there are 2 levels"),
        (f"{name}(flat, 0.0)", DTypeError, "level: is 0.0"),
        (f"{name}(rows)", DTypeError, "x: is ndarray"),
        (f"{name}(None)", DTypeError, "x: is None"),
    ]


def lengths(arguments):
    lod = getattr(arguments["x"], "lod", arguments["x"])
    nested = LoDTensor(range(lod.num_rows), lod).tolist()
    return [len(one) for one in sequences(nested, from_the_first(arguments["level"], lod))]


@composite
def part_calls(draw):
    x = draw(lod_tensors(max_levels=2, most=5))
    _, steps_map = TensorArray.unpack(x, 0, draw(st.booleans()))
    kind, parts = draw(
        st.sampled_from(
            [
                (x, ["lengths", "offsets"]),
                (steps_map.rank, ["indices", "lengths"]),
                (steps_map, ["values", "rank"]),
            ]
        )
    )
    return call(kind, draw(sampled_from(parts)))


@composite
def with_rows(draw):
    x = draw(lod_tensors(max_levels=3, most=5))
    return call(x if draw(st.booleans()) else x.values)


def part(arguments):
    x, wanted = arguments["x"], arguments["part"]
    if isinstance(x, LoDTensor):
        found = [len(one) for one in x.tolist()]
        return found if wanted == "lengths" else [sum(found[:at]) for at in range(len(found) + 1)]
    if isinstance(x, RankTable):
        found = [len(one) for one in sequences(LoDTensor(range(x.lod.num_rows), x.lod).tolist(), x.level)]
        return x.indices.tolist() if wanted == "indices" else [found[at] for at in x.indices.tolist()]
    assert isinstance(x, IndicesMap)
    return x.tolist() if wanted == "values" else (x.rank.indices.tolist(), x.rank.lengths.tolist())


SAMPLES = {
    "lod_lengths": Samples(
        structures(),
        lengths,
        None,
        [
            ("lod_lengths(x, 2)", LevelError, "level.*2"),
            ("lod_lengths(rows)", DTypeError, "x.*ndarray"),
        ],
    ),
    "num_rows": Samples(
        with_rows(),
        lambda arguments: len(sequences(arguments["x"].tolist(), getattr(arguments["x"], "num_levels", 0))),
        None,
        [
            ("num_rows(np.array(1.0))", ShapeError, "x: has no axis"),
            ("num_rows(LoD.from_lengths([1]))", DTypeError, "x: is LoD"),
        ],
    ),
    "structure_of": Samples(
        part_calls(),
        part,
        None,
        [
            ("OPS['structure_of'](x, 'indices')", DTypeError, "x: is a LoDTensor, which has no indices"),
            ("OPS['structure_of'](x, 'width')", DTypeError, "part.*'width'"),
        ],
    ),
    "lod_num": Samples(structures(), nested_lengths, None, wrong("lod_num")),
    "lod_positions": Samples(structures(), per_row(positions), None, wrong("lod_positions")),
    "lod_segment_ids": Samples(structures(), per_row(segment_ids), None, wrong("lod_segment_ids")),
}
