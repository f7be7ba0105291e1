"""Twin of lodcore/kernels/beam.pyx."""


def select_best(
    pre_ids, pre_scores, ids, scores, offsets, beam_size, end_id, out_ids, out_scores, out_parents, out_offsets
):
    """Select the best continuations of the prefixes of each source, prefix by prefix, the best first."""
    n_prefixes, columns = scores.shape
    if not len(pre_ids) == len(pre_scores) == len(out_offsets) - 1 == n_prefixes == offsets[len(offsets) - 1]:
        raise ValueError("pre_ids, pre_scores, ids, scores and offsets do not belong together")
    if (ids is not None and len(ids) != n_prefixes * columns) or beam_size < 1:
        raise ValueError("pre_ids, pre_scores, ids, scores and offsets do not belong together")
    if pre_scores.dtype != scores.dtype or out_scores.dtype != scores.dtype:
        raise ValueError("scores are needed as C-contiguous arrays of one dtype")
    room = 0
    for s in range(len(offsets) - 1):
        candidates = int(offsets[s + 1] - offsets[s]) * (columns if columns else 1)
        room += candidates if candidates < beam_size else beam_size
    if len(out_ids) < room or len(out_scores) < room or len(out_parents) < room:
        raise ValueError("out_ids, out_scores and out_parents are too short")
    total, out_offsets[0] = 0, 0
    for s in range(len(offsets) - 1):
        prefixes = range(int(offsets[s]), int(offsets[s + 1]))
        beam = []
        for p in prefixes:
            if pre_ids[p] == end_id:
                _insert(beam, beam_size, (pre_scores[p], p, end_id))
                continue
            for c in range(columns):
                _insert(beam, beam_size, (scores[p, c], p, c if ids is None else ids[p * columns + c]))
        if all(pre_ids[p] == end_id for _, p, _ in beam):
            beam = []
        for p in prefixes:
            for score, parent, one in beam:
                if parent == p:
                    out_ids[total], out_scores[total], out_parents[total] = one, score, p
                    total += 1
            out_offsets[p + 1] = total
    return total


def _insert(beam, beam_size, item):
    """Insert an item into a beam: the better score first, among equal ones the later prefix, then the earlier item."""
    if len(beam) < beam_size:
        beam.append(item)
    elif _below(item, beam[len(beam) - 1]):
        return
    at = len(beam) - 1
    while at > 0 and _below(beam[at - 1], item):
        beam[at] = beam[at - 1]
        at -= 1
    beam[at] = item


def _below(item, other):
    """Return whether an item comes after another one."""
    return item[0] < other[0] or (item[0] == other[0] and item[1] < other[1])


def find_ends(scores, offsets, n_sources, beam_size, ends, out_offsets):
    """Find the final items of the hypotheses of each source: those of its last step that has any items."""
    n_steps = (len(offsets) - 1) // n_sources if n_sources else 0
    if n_steps * n_sources != len(offsets) - 1 or len(out_offsets) != n_sources + 1:
        raise ValueError("scores, offsets, ends and out_offsets do not belong together")
    if not len(scores) == len(ends) == offsets[len(offsets) - 1]:
        raise ValueError("scores, offsets, ends and out_offsets do not belong together")
    total, out_offsets[0] = 0, 0
    for s in range(n_sources):
        found = []
        for t in range(n_steps):
            start, stop = offsets[t * n_sources + s], offsets[t * n_sources + s + 1]
            if start < stop:
                found = [int(start) + k for k in range(stop - start)]
        for item in found:
            place = 0
            for other in found:
                place += _comes_first(scores, other, item)
            if place < beam_size:
                ends[total + place] = item
        total += len(found) if len(found) < beam_size else beam_size
        out_offsets[s + 1] = total
    return total


def _comes_first(scores, other, item):
    """Return whether another item comes before this one: nan is last, and equal items keep their order."""
    a, b = scores[other], scores[item]
    if a != a or b != b:
        return a == a or (b != b and other < item)
    return a > b or (a == b and other < item)


def measure_ways(ids, parents, ends, end_id, out_offsets):
    """Compute offsets from the number of items on the path from each end back to the first step."""
    if len(parents) != len(ids) or len(out_offsets) != len(ends) + 1:
        raise ValueError("ids, parents, ends and out_offsets do not belong together")
    out_offsets[0] = 0
    for k in range(len(ends)):
        out_offsets[k + 1] = out_offsets[k] + len(_way(ids, parents, int(ends[k]), end_id))


def _way(ids, parents, item, end_id):
    """List the items from an end back to the first step, without end tokens that are followed by other items."""
    found = [item]
    while 0 <= parents[item] < item:
        item = int(parents[item])
        if ids[item] != end_id:
            found.append(item)
    return found


def write_ways(ids, scores, parents, ends, offsets, end_id, out_ids, out_scores):
    """Write the items on the paths to the ends, starting from the first step."""
    if len(parents) != len(ids) or len(offsets) != len(ends) + 1 or len(out_ids) != offsets[len(ends)]:
        raise ValueError("ids, parents, ends, offsets and out_ids do not belong together")
    if (scores is None) != (out_scores is None):
        raise ValueError("ids, parents, ends, offsets and out_ids do not belong together")
    if scores is not None and (len(scores) != len(ids) or len(out_scores) != len(out_ids)):
        raise ValueError("scores and out_scores do not belong together")
    for k in range(len(ends)):
        at = offsets[k + 1]
        for item in _way(ids, parents, int(ends[k]), end_id):
            at -= 1
            out_ids[at] = ids[item]
            if scores is not None:
                out_scores[at] = scores[item]


def note_best(scores, sources, best):
    """Insert scores into the lists of the best scores of each source."""
    n_sources, most = best.shape
    if len(scores) != len(sources):
        raise ValueError("scores and sources have different lengths")
    if most == 0:
        return -1
    for k in range(len(scores)):
        source = sources[k]
        if source < 0 or source >= n_sources:
            return k
        at = most
        while at > 0 and best[source, at - 1] < scores[k]:
            if at < most:
                best[source, at] = best[source, at - 1]
            at -= 1
        if at < most:
            best[source, at] = scores[k]
    return -1
