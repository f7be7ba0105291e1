"""Beam search, source by source: the best continuations of its prefixes, and backtracking from the last ones."""

from reference.case import cases
from reference.corners import STRUCTURES, walks
from reference.draw import FLOATS
from reference.draw_tensors import dense, level_of, ragged, vector
from reference.ops.levels import at_level, sequences
from reference.reals import log
from reference.tensors import Dense, Ragged, Steps

__all__ = ["beam_search", "beam_search_decode"]


def beam_search(pre_ids, pre_scores, ids, scores, beam_size, end_id, level, is_accumulated, num_levels):
    """Select the best continuations of the prefixes of each source; ids and scores are rows, one per prefix."""
    prefixes, parents = iter(range(len(pre_ids))), []

    def one_source(source):
        here = [(next(prefixes), row) for row in sequences(source, num_levels - level - 1)]
        beam = []
        for p, row in here:
            if pre_ids[p] == end_id:
                insert(beam, beam_size, (pre_scores[p], p, end_id))
                continue
            for c, score in enumerate(row):
                score = score if is_accumulated else pre_scores[p] + log(score)
                insert(beam, beam_size, (score, p, ids[p][c] if ids is not None else c))
        if all(pre_ids[p] == end_id for _, p, _ in beam):
            beam = []
        kept = [[item for item in beam if item[1] == p] for p, _ in here]
        parents.extend(p for items in kept for _, p, _ in items)
        return kept

    kept = at_level(one_source, scores, level)

    def parts(place):
        return at_level(lambda items: [item[place] for item in items], kept, level + 1)

    return parts(2), parts(0), parents


def insert(beam, beam_size, item):
    """Insert an item into a beam: the better score first, among equal ones the later prefix, then the earlier item."""

    def below(one, other):
        return one[0] < other[0] or (one[0] == other[0] and one[1] < other[1])

    if len(beam) == beam_size:
        if below(item, beam[-1]):
            return
        beam.pop()
    at = len(beam)
    while at > 0 and below(beam[at - 1], item):
        at -= 1
    beam.insert(at, item)


def beam_search_decode(ids, scores, beam_size, end_id):
    """Trace the items that all steps have kept back to the first step: return sentences and scores of each source."""
    found = [[], []]
    for s in range(len(ids[0])):
        sentences = sorted(sentences_of([x[s] for x in ids], [x[s] for x in scores], end_id), key=best_first)
        for place, one in enumerate(found):
            one.append([sentence[place] for sentence in sentences[:beam_size]])
    return tuple(found)


def best_first(sentence):
    """Sort sentences by the score of their last token; nan comes after all others."""
    last = sentence[1][-1]
    return (last != last, -last if last == last else 0)


def sentences_of(ids, scores, end_id):
    """List the sentences of one source: ids and scores of each."""
    steps = []  # for each step a list of items: id, score, prefix
    for prefixes, numbers in zip(ids, scores, strict=True):
        steps.append([(i, x, p) for p, items in enumerate(prefixes) for i, x in zip(items, numbers[p], strict=True)])
    with_items = [t for t, items in enumerate(steps) if items]
    found = []
    for number in range(len(steps[with_items[-1]]) if with_items else 0):
        tokens, at = [], number
        for t in reversed(range(with_items[-1] + 1)):
            one, score, prefix = steps[t][at]
            if one != end_id or not tokens:
                tokens.append((one, score))
            at = prefix
        found.append(([one for one, _ in reversed(tokens)], [score for _, score in reversed(tokens)]))
    return found


# -- cases -------------------------------------------------------------------------------------------------------------


END = 2


@cases(STRUCTURES | walks(3) | {*FLOATS, "ties", "nan"}, walked="scores")
def draw_beam_search(source):
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


@draw_beam_search.expected
def _(pre_ids, pre_scores, ids, scores, beam_size, end_id, level):
    at, candidates = scores.level(level), None if ids is None else ids.nested
    given = (pre_ids.nested, pre_scores.nested, candidates, scores.nested, beam_size, end_id, at, True)
    kept, best, parents = beam_search(*given, scores.num_levels)
    dtype = pre_ids.dtype if ids is None else ids.dtype
    return (
        scores.made(kept, at + 2, (), dtype),
        scores.made(best, at + 2, ()),
        Dense(parents, (len(parents),), "int32"),
    )


@cases({*FLOATS, "ties"}, gradient=False, walked="scores_array")
def draw_beam_search_decode(source):
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


@draw_beam_search_decode.expected
def _(ids_array, scores_array, beam_size, end_id):
    given = [[x.nested for x in array.elements] for array in (ids_array, scores_array)]
    sentences, scores = beam_search_decode(*given, beam_size, end_id)
    return ids_array.elements[0].made(sentences), scores_array.elements[0].made(scores)
