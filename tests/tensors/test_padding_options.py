"""Options of padding that interact, compared with plain Python in all combinations."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor

pytestmark = pytest.mark.not_on_reference
LENGTHS = [[], [0], [0, 0], [1, 3, 0], [4]]


def rounded(longest, length, multiple, least):
    """Compute the padded lengths; None if they are refused."""
    if length is not None and length < longest:
        return None
    size = max(longest if length is None else length, least or 0)
    while size % multiple:
        size += 1
    return size


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_to_padded_length_multiple_of_and_min_length_in_all_combinations(lengths):
    x = LoDTensor.from_lengths(np.arange(1, 1 + sum(lengths)), lengths)
    parts = x.tolist()
    for length, multiple, least in itertools.product([None, 0, 3, 4, 7], [1, 2, 4, 5], [None, 0, 1, 3, 6, 9]):
        size = rounded(max(lengths, default=0), length, multiple, least)
        options = {"length": length, "multiple_of": multiple, "min_length": least}
        if size is None:
            with pytest.raises(ValueError, match=r"length: is \d+; the longest sequence has \d+ rows"):
                x.to_padded(**options)
            continue
        for left in (False, True):
            fill = [[0] * (size - len(part)) for part in parts]
            wanted = [more + part if left else part + more for part, more in zip(parts, fill, strict=True)]
            found = x.to_padded(side="left" if left else "right", **options)
            assert found.shape == (len(lengths), size)
            assert found.tolist() == wanted


def test_to_padded_takes_one_option_a_level():
    x = lodcore.array([[[1, 2, 3], [4]], [[5]], [[], [6, 7], []]])
    choices = [(None, 2, None), (None, 4, 5), (4, 3, None), (None, 1, 6), (3, 2, 7)]
    for outer, inner in itertools.product(choices, repeat=2):
        length, multiple, least = zip(outer, inner, strict=True)
        found = x.to_padded(length=length, multiple_of=multiple, min_length=least, levels=2)
        assert found.shape == (3, rounded(3, *outer), rounded(3, *inner))


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("option", ["multiple_of", "min_length", "length"])
def test_to_padded_takes_a_number_for_the_last_level(option, levels):
    x = lodcore.array([[[[1, 2, 3], [4]], [[5]]], [[[], [6, 7], []]]])
    if levels == 2:
        x = x.flatten(0)
    plain = x.to_padded(levels=levels).shape
    found = x.to_padded(levels=levels, **{option: 7})
    assert found.shape == (*plain[:-1], 7)
    assert (
        x.to_padded(levels=levels, **{option: [1 if option == "multiple_of" else None] * (levels - 1) + [7]}).tolist()
        == found.tolist()
    )


RAGGED = [[[[1, 2], [3]], [[4]]], [[[5], [], [6, 7]]], [], [[], [[8, 9]], [[]]]]


def filled(nested, sizes, left, more):
    """Pad nested lists to these sizes; a missing sequence has nothing but the filling."""
    if not sizes:
        return nested
    end = more if len(sizes) == 1 else []
    if len(sizes) == 1 and more is None:
        end = (nested[0] if left else nested[-1]) if nested else 0
    missing = [end] * (sizes[0] - len(nested))
    return [filled(one, sizes[1:], left, more) for one in (missing + nested if left else nested + missing)]


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_to_padded_of_deep_tensors_pads_every_level_on_the_side(levels, spare, left):
    """Of 4 levels, the last 1 to 4 are padded; also with the last row repeated, and a mask."""
    lists = [RAGGED, [], [RAGGED[1]]]
    x, side = lodcore.array(lists, num_levels=4), "left" if left else "right"
    lines = lists
    for _ in range(4 - levels):
        lines = [one for line in lines for one in line]
    sizes, inner = [], lines
    for _ in range(levels):
        sizes.append(max(map(len, inner)) + spare)
        inner = [one for line in inner for one in line]
    for mode, more in (("constant", -1), ("replicate", None)):
        wanted = [filled(line, sizes, left, more) for line in lines]
        found, mask = x.to_padded(
            -1 if more else 0, side, levels=levels, length=tuple(sizes), mode=mode, return_mask=True
        )
        assert found.tolist() == wanted
        assert mask.tolist() == (np.array([filled(line, sizes, left, -1) for line in lines]) > 0).tolist()


@pytest.mark.parametrize("replicate", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_to_padded_side_mode_and_mask_in_all_combinations(left, replicate):
    x = LoDTensor.from_lengths(np.arange(1, 7), [2, 0, 3, 1])
    found, mask = x.to_padded(
        9, "left" if left else "right", 5, return_mask=True, mode="replicate" if replicate else "constant"
    )
    for part, line, there in zip(x.tolist(), found.tolist(), mask.tolist(), strict=True):
        end = (part[0] if left else part[-1]) if replicate and part else 9
        more = [end] * (5 - len(part))
        assert line == (more + part if left else part + more)
        known = [True] * len(part)
        missing = [False] * len(more)
        assert there == (missing + known if left else known + missing)
