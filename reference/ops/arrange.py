"""Elements of sequences at other positions."""

from reference.ops.levels import at_level, each_at_level, sequences

__all__ = ["sequence_repeat", "sequence_roll", "sequence_unflatten"]


def sequence_roll(nested, shifts, level):
    """Shift the elements of each sequence of a level."""
    shifts = iter(shifts)

    def rolled(sequence):
        by = next(shifts)
        return [sequence[(place - by) % len(sequence)] for place in range(len(sequence))]

    return at_level(rolled, nested, level)


def sequence_repeat(nested, repeats, level):
    """Repeat each element of each sequence of a level."""
    repeats = iter(repeats)
    return at_level(lambda sequence: [one for one in sequence for _ in range(next(repeats))], nested, level)


def sequence_unflatten(nested, lengths, level):
    """Split the sequences of a level into sequences of the given lengths, one list of lengths for each."""

    def divided(sequence, sizes):
        found = []
        for size in sizes:
            found.append(sequence[:size])
            sequence = sequence[size:]
        assert not sequence
        return found

    found = [divided(sequence, sizes) for sequence, sizes in zip(sequences(nested, level), lengths, strict=True)]
    return each_at_level(found, nested, level)
