"""Samples of the operators that return structure as tensors."""

from hypothesis import strategies as st

from lodcore import DTypeError, IndicesMap, LevelError, LoDTensor, RankTable, ShapeError, TensorArray
from reference.ops.levels import sequences
from tests.helpers.agree import from_the_first
from tests.helpers.draw import composite, lod_tensors, sampled_from
from tests.samples import Samples, call
from tests.samples.places import structures


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
}
