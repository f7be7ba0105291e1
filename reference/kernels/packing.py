"""Twin of lodcore/kernels/packing.pyx."""


def _first_misfit(lengths, budget):
    """Find the first length that is out of range; -1 if there is none."""
    for k in range(len(lengths)):
        if lengths[k] < 0 or lengths[k] > budget:
            return k
    return -1


def _check(good):
    if not good:
        raise ValueError("the arrays have shapes that do not belong together, or a limit is below 1")


def next_fit(lengths, budget, max_items, window, out):
    """Fill one bin after the other, in the order of the items."""
    count = len(lengths)
    _check(len(out) == count + 1 and max_items > 0 and window > 0)
    bad = _first_misfit(lengths, 2**63 - 1)
    if bad >= 0:
        return bad
    placed = [False for _ in range(count)]
    bin = 0
    while not all(placed):
        room = budget
        held = 0
        passed = 0
        for k in range(count):
            if placed[k] or held == max_items or passed == window:
                continue
            if lengths[k] > room and held:
                passed += 1
                continue
            room -= int(lengths[k])
            held += 1
            placed[k] = True
            out[k] = bin
        bin += 1
    out[count] = bin
    return -1


def first_fit(lengths, budget, max_items, out):
    """Put each item into the first bin that has room for it."""
    count = len(lengths)
    _check(len(out) == count + 1 and max_items > 0)
    bad = _first_misfit(lengths, budget)
    if bad >= 0:
        return bad
    rooms = []
    held = []
    for k in range(count):
        bin = 0
        while bin < len(rooms) and (rooms[bin] < lengths[k] or held[bin] == max_items):
            bin += 1
        if bin == len(rooms):
            rooms.append(budget)
            held.append(0)
        rooms[bin] -= int(lengths[k])
        held[bin] += 1
        out[k] = bin
    out[count] = len(rooms)
    return -1


def _best(rooms, latest, length):
    """Return the bin with the least sufficient room, the latest of equal ones; -1 if there is none."""
    best = -1
    for b in range(len(rooms)):
        if rooms[b] < length or latest[b] < 0:
            continue
        if best < 0 or rooms[b] < rooms[best] or (rooms[b] == rooms[best] and latest[b] > latest[best]):
            best = b
    return best


def best_fit(lengths, budget, max_items, out):
    """Put each item into the bin with the least sufficient room."""
    count = len(lengths)
    _check(len(out) == count + 1 and max_items > 0)
    bad = _first_misfit(lengths, budget)
    if bad >= 0:
        return bad
    rooms = []
    held = []
    latest = []
    for k in range(count):
        bin = _best(rooms, latest, lengths[k])
        if bin < 0:
            bin = len(rooms)
            rooms.append(budget)
            held.append(0)
            latest.append(0)
        rooms[bin] -= int(lengths[k])
        held[bin] += 1
        latest[bin] = k if held[bin] < max_items else -1
        out[k] = bin
    out[count] = len(rooms)
    return -1


def histogram_fit(sizes, counts, order, budget, max_items, items, out):
    """Pack counts of lengths by best fit decreasing, all bins with equal content at a time."""
    count = len(order)
    _check(len(counts) == len(sizes) and len(items) == count and len(out) == count + 2)
    _check(max_items > 0)
    total = 0
    for k in range(len(sizes)):
        if sizes[k] < 0 or sizes[k] > budget or counts[k] < 0 or counts[k] > count - total:
            return k
        total += int(counts[k])
    _check(total == count)
    contents = []  # of the bins of each group, as pairs of a size and the number of items of it
    rooms = []
    places = []
    numbers = []  # the number of bins of each group
    latest = []
    now = 0
    for k in range(len(sizes)):
        size = int(sizes[k])
        left = int(counts[k])
        while left:
            parent = _best(rooms, latest, size)
            content = [] if parent < 0 else contents[parent]
            room = budget if parent < 0 else rooms[parent]
            free = max_items if parent < 0 else places[parent]
            bins = left if parent < 0 else numbers[parent]
            times = free
            if size and room // size < times:
                times = room // size
            full = left // times
            rest = left % times
            if full >= bins:
                full = bins
                rest = 0
            left -= full * times + rest
            if parent >= 0:
                numbers[parent] -= full + int(rest > 0)
                now += 1
                latest[parent] = now if numbers[parent] else -1
            for taken, alike in ((times, full), (rest, int(rest > 0))):
                if alike:
                    now += 1
                    contents.append([*content, (k, taken)])
                    rooms.append(room - taken * size)
                    places.append(free - taken)
                    numbers.append(alike)
                    latest.append(now if free > taken else -1)
    starts = [0]
    for k in range(len(sizes)):
        starts.append(starts[k] + int(counts[k]))
    at = 0
    bins = 0
    out[0] = 0
    for g in range(len(contents)):
        for _ in range(numbers[g]):
            for k, taken in contents[g]:
                for _ in range(taken):
                    items[at] = order[starts[k]]
                    starts[k] += 1
                    at += 1
            bins += 1
            out[bins] = at
    out[count + 1] = bins
    return -1


def group_items(bins, order, offsets, items):
    """List items bin by bin."""
    _check(len(order) == len(bins) and len(items) == len(bins))
    n_bins = len(offsets) - 1
    for k in range(len(bins)):
        if bins[k] < 0 or bins[k] >= n_bins:
            return k
    at = 0
    for b in range(n_bins):
        offsets[b] = at
        for k in range(len(bins)):
            if bins[k] == b:
                items[at] = order[k]
                at += 1
    offsets[n_bins] = at
    return -1


def cut_batches(lengths, order, groups, budget, padded, max_items, out):
    """Divide items into batches, each with as many items as the budget allows."""
    count = len(order)
    _check(len(out) == count + 2 and max_items > 0 and groups[len(groups) - 1] == count)
    for at in range(count):
        if order[at] < 0 or order[at] >= len(lengths) or lengths[order[at]] < 0 or lengths[order[at]] > budget:
            return at
    batches = 0
    out[0] = 0
    for g in range(len(groups) - 1):
        held = 0
        longest = 0
        total = 0
        for at in range(groups[g], groups[g + 1]):
            length = int(lengths[order[at]])
            most = length if length > longest else longest
            used = (held + 1) * most if padded else total + length
            if held and (used > budget or held == max_items):
                batches += 1
                out[batches] = at
                held = 0
                most = length
                total = 0
            longest = most
            total += length
            held += 1
        if held:
            batches += 1
            out[batches] = groups[g + 1]
    out[count + 1] = batches
    return -1


def segment_ends(documents, bins, length, with_tails, out):
    """Compute the offsets of the segments of rows that are filled up to one length: cu_seqlens."""
    n_bins = len(bins) - 1
    _check(len(out) == len(documents) + n_bins + 2 and bins[n_bins] == len(documents) - 1 and length >= 0)
    segments = 0
    longest = 0
    out[0] = 0
    for b in range(n_bins):
        at = b * length
        end = at + length
        if end > 2**31 - 1 or documents[bins[b + 1]] - documents[bins[b]] > length:
            return b
        for s in range(bins[b], bins[b + 1]):
            size = int(documents[s + 1] - documents[s])
            longest = size if size > longest else longest
            at += size
            segments += 1
            out[segments] = at
        if with_tails and at < end:
            longest = end - at if end - at > longest else longest
            segments += 1
            out[segments] = end
    out[len(out) - 2] = segments
    out[len(out) - 1] = longest
    return -1


def attention_rows(tokens, targets, documents, bins, settings, input_ids, labels, positions, segment_ids, seq_idx):
    """Write bins as rows of one length, with labels, positions, and the document of each token."""
    n_bins = len(bins) - 1
    length = input_ids.shape[1]
    _check(len(settings) == 5 and len(targets) == len(tokens))
    _check(documents[len(documents) - 1] == len(tokens) and bins[n_bins] == len(documents) - 1)
    for b in range(n_bins):
        if documents[bins[b + 1]] - documents[bins[b]] > length:
            return b
    if n_bins == 0 or length == 0:
        return -1
    for out in (input_ids, labels, positions, segment_ids, seq_idx):
        _check(out.shape[0] == n_bins and out.shape[1] == length)
    filling, ignored, start, shift, own = settings
    for b in range(n_bins):
        at = 0
        for s in range(bins[b], bins[b + 1]):
            for k in range(documents[s], documents[s + 1]):
                labelled = k + 1 if shift else k
                known = labelled < documents[s + 1] if shift else k > documents[s]
                input_ids[b, at] = tokens[k]
                labels[b, at] = targets[labelled] if known else ignored
                positions[b, at] = start + k - documents[s]
                segment_ids[b, at] = s - bins[b] + 1
                seq_idx[b, at] = s - bins[b]
                at += 1
        for k in range(length - at):
            input_ids[b, at + k] = filling
            labels[b, at + k] = ignored
            positions[b, at + k] = start + k
            segment_ids[b, at + k] = 0
            seq_idx[b, at + k] = bins[b + 1] - bins[b] if own else -1
    return -1
