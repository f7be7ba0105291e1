"""A step of a beam search, and decoding of all steps."""

from reference.case import cases
from reference.corners import STRUCTURES, walks
from reference.draw import FLOATS
from reference.draw_tensors import dense, level_of, ragged, vector
from reference.ops import beam as oracle
from reference.tensors import Dense, Ragged, Steps

END = 2


@cases(STRUCTURES | walks(3) | {*FLOATS, "ties", "nan"}, walked="scores")
def beam_search(source):
    flavours = ("quarters", "any", "equal", "nan")
    scores = ragged(source, 3, FLOATS, ((0,), (1,), (3,)), flavours)
    count, columns = len(scores.rows), scores.row_shape[0]
    ids = Dense(
        [source.integers(columns, 0, 5) for _ in range(count)], (count, columns), source.choice(["int64", "int32"])
    )
    return {
        "pre_ids": vector(source, [source.choice([END, END, 0, 1]) for _ in range(count)]),
        "pre_scores": dense(source, (count,), [scores.dtype], flavours),
        "ids": source.choice([None, ids]),
        "scores": scores,
        "beam_size": source.choice([1, 2, 3, 4, 30]),
        "end_id": END,
        "level": level_of(source, scores),
    }


@beam_search.expected
def _(pre_ids, pre_scores, ids, scores, beam_size, end_id, level):
    at, candidates = scores.level(level), None if ids is None else ids.nested
    given = (pre_ids.nested, pre_scores.nested, candidates, scores.nested, beam_size, end_id, at, True)
    kept, best, parents = oracle.beam_search(*given, scores.num_levels)
    dtype = pre_ids.dtype if ids is None else ids.dtype
    return (
        scores.made(kept, at + 2, (), dtype),
        scores.made(best, at + 2, ()),
        Dense(parents, (len(parents),), "int32"),
    )


@cases({*FLOATS, "ties"}, gradient=False, walked="scores_array")
def beam_search_decode(source):
    ids, scores, dtypes = [], [], (source.choice(["int64", "int32"]), source.choice(FLOATS))
    prefixes = [source.integer(0, 2) for _ in range(source.integer(0, 3))]
    for _ in range(source.integer(1, 4)):
        kept = [[source.choice([0, 1, 1, 2]) for _ in range(count)] for count in prefixes]
        tokens = [[[source.choice([END, END, 0, 5]) for _ in range(n)] for n in counts] for counts in kept]
        numbers = [[[source.integer(-6, 0) / 4 for _ in range(n)] for n in counts] for counts in kept]
        ids.append(Ragged(tokens, 2, (), dtypes[0]))
        scores.append(Ragged(numbers, 2, (), dtypes[1]))
        prefixes = [sum(counts) for counts in kept]
    return {
        "ids_array": Steps(ids),
        "scores_array": Steps(scores),
        "beam_size": source.choice([1, 2, 10]),
        "end_id": END,
    }


@beam_search_decode.expected
def _(ids_array, scores_array, beam_size, end_id):
    given = [[x.nested for x in array.elements] for array in (ids_array, scores_array)]
    sentences, scores = oracle.beam_search_decode(*given, beam_size, end_id)
    return ids_array.elements[0].made(sentences), scores_array.elements[0].made(scores)
