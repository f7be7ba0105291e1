"""Elements of sequences in other places."""

from reference.ops.levels import at_level, each_at_level, sequences

__all__ = ["sequence_repeat", "sequence_roll", "sequence_unflatten"]


def sequence_roll(nested, shifts, level):
    """Move the elements of each sequence of a level on."""
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
    """Divide sequences of a level into sequences of lengths, a list of them for each."""

    def divided(sequence, sizes):
        found = []
        for size in sizes:
            found.append(sequence[:size])
            sequence = sequence[size:]
        assert not sequence
        return found

    found = [divided(sequence, sizes) for sequence, sizes in zip(sequences(nested, level), lengths, strict=True)]
    return each_at_level(found, nested, level)
