"""The least number of bins, by trying all ways of packing."""


def fewest_bins(lengths, budget, max_items=None):
    """Find the least number of bins that hold items of these lengths."""
    items = sorted(lengths, reverse=True)
    most = len(items) if max_items is None else max_items
    best = len(items)

    def place(k, bins):
        """Put item k and those after it into bins, which are pairs of the remaining room and the number of items."""
        nonlocal best
        if len(bins) >= best:
            return
        if k == len(items):
            best = len(bins)
            return
        for room, held in set(bins):  # equal bins are the same
            if items[k] <= room and held < most:
                others = list(bins)
                others.remove((room, held))
                place(k + 1, [*others, (room - items[k], held + 1)])
        place(k + 1, [*bins, (budget - items[k], 1)])

    place(0, [])
    return best
