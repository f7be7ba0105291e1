"""Arrays whose sizes do not belong together: kernels refuse them, one array and axis at a time."""

import numpy as np
import pytest

from lodcore import kernels
from tests.helpers.against_twin import of_other_length
from tests.helpers.draw import int64
from tests.helpers.tables import for_each

pytestmark = pytest.mark.beyond_the_rules  # twins index arrays, which checks more


def n(*shape):
    """Make int64 zeros."""
    return np.zeros(shape, np.int64)


def u(*shape):
    """Make bytes of ones."""
    return np.ones(shape, "u1")


ENDS, PAIRS, TABLE = int64([0, 2, 5]), int64([[0, 2], [1, 4], [2, 5]]), np.ones((5, 3))
BAGS = TABLE, int64([1, 4, 0, 2, 2]), ENDS

#: A valid call of each kernel, and the (argument, axis) that may have any length.
CALLS = [
    ("gather.take_sequences", [ENDS, int64([1, 0, -1]), n(3, 2), n(4)], [(0, 0)]),
    ("gather.slice_ranges", [ENDS, int64([1, 0]), int64([1, 2]), n(2, 2), n(3)], []),
    ("gather.check_ranges", [int64([0, 1]), int64([2, 3]), 5, n(2, 2)], []),
    ("gather.count_ranges", [PAIRS, n(4)], []),
    ("gather.take_offsets", [int64([0, 1, 3, 3, 4, 7]), PAIRS.copy(), n(9)], []),
    ("gather.copy_ranges", [u(5, 3), PAIRS, u(8, 3)], [(0, 0)]),
    ("gather.add_ranges", [np.ones((8, 3)), PAIRS, np.ones((5, 3))], [(2, 0)]),
    ("index.cut_ranges", [ENDS, 0, 1, n(2, 2), n(3)], []),
    ("index.strided_offsets", [ENDS, 0, 5, 2, n(3)], []),
    ("index.strided_ranges", [ENDS, 0, 2, int64([0, 1, 3]), n(3, 2)], []),
    ("index.pick_ranges", [ENDS, int64([0, 1]), n(2, 2)], []),
    ("index.true_offsets", [ENDS, u(5), n(3)], []),
    ("index.take_true", [u(5, 3), u(5), u(5, 3)], [(2, 0)]),
    ("index.put_true", [u(5, 3), u(5), u(5, 3)], [(0, 0)]),
    ("index.choose", [u(5), u(5, 3), u(5, 3), u(5, 3)], []),
    ("index.nested_ranges", [ENDS, int64([0, 1, 3]), int64([0, 1, 2]), n(3, 2)], []),
    ("expand.repeat_rows", [u(2, 3), ENDS, u(5, 3)], []),
    ("expand.reverse_rows", [u(5, 3), ENDS, u(5, 3)], [(1, 0)]),
    ("expand.split_mask", [u(5), n(5)], []),
    ("expand.scale_offsets", [ENDS, 2, 1, n(3)], []),
    ("embedding.take_rows", [u(5, 3), int64([1, 4]), -1, u(2, 3)], [(0, 0)]),
    ("embedding.add_rows", [np.ones((2, 3)), int64([1, 4]), np.ones((5, 3))], [(2, 0)]),
    ("embedding.number_rows", [int64([1, 4]), n(5), n(2), n(3)], [(1, 0)]),
    ("embedding.sum_bags", [*BAGS, 0, np.ones((2, 3))], [(0, 0)]),
    ("embedding.best_bags", [*BAGS, 0, np.ones((2, 3))], [(0, 0)]),
    ("embedding.weigh_bags", [*BAGS, np.ones(5), np.ones((2, 3))], [(0, 0)]),
    ("embedding.product_with_bags", [*BAGS, np.ones((2, 3)), np.ones(5)], [(0, 0)]),
    ("embedding.find_in_bags", [*BAGS, np.ones((2, 3)), n(2, 3)], [(0, 0)]),
    ("group.find_runs", [u(5, 3), n(5)], [(0, 1)]),
    ("group.order_by_id", [int64([0, 1, 1]), n(3), n(3)], [(1, 0)]),
    ("combine.pair_ranges", [ENDS, 1, n(6), n(5, 2), n(3)], []),
    ("combine.product_ranges", [ENDS, int64([0, 1, 3]), n(6), n(5, 2), n(3)], []),
    ("combine.combination_offsets", [ENDS, 2, 0, n(3)], []),
    ("deviation.vary_rows", [np.ones((5, 3)), ENDS, 0.0, np.ones((2, 3)), np.ones((2, 3))], []),
    ("deviation.spread_distances", [TABLE, ENDS, *np.ones((2, 2, 3)), np.ones((5, 3))], []),
    ("foreign_data.copy_offsets", [ENDS, n(1), n(3)], []),
]


@for_each(("name", "arguments", "free"), CALLS)
def test_every_array_and_axis(name, arguments, free):
    module, function = name.split(".")
    kernel = getattr(getattr(kernels, module), function)
    kernel(*arguments)
    for j, array in enumerate(arguments):
        if not isinstance(array, np.ndarray):
            continue
        others = [(axis, of_other_length(array, axis, more)) for axis in range(array.ndim) for more in (False, True)]
        for axis, other in others:
            if (j, axis) not in free:
                with pytest.raises(ValueError, match=r"belong together|different|do not"):
                    kernel(*arguments[:j], other, *arguments[j + 1 :])
        if array is ENDS and not name.startswith(("gather", "index.s", "index.c", "index.p", "index.n", "expand.s")):
            for last in (4, 6):
                if name not in ("combine.combination_offsets", "foreign_data.copy_offsets"):
                    with pytest.raises(ValueError, match=r"belong together"):
                        kernel(*arguments[:j], int64([0, 2, last]), *arguments[j + 1 :])


@for_each(
    "ranges", [[[0, 2], [1, 4], [3, 6]], [[-1, 1], [1, 4], [2, 5]], [[0, 3], [4, 3], [0, 6]], [[3, 1], [0, 5], [0, 5]]]
)
def test_ranges_out_of_bounds_are_refused(ranges):
    """As many rows as the result has, but not among those that exist."""
    for kernel, arguments in [
        (kernels.gather.copy_ranges, [u(5, 3), int64(ranges), u(8, 3)]),
        (kernels.gather.add_ranges, [np.ones((8, 3)), int64(ranges), np.ones((5, 3))]),
        (kernels.gather.take_offsets, [int64([0, 1, 3, 3, 4, 7]), int64(ranges) + 0, n(9)]),
    ]:
        with pytest.raises(ValueError, match="belong together"):
            kernel(*arguments)


def test_lists_of_another_length():
    for count in (1, 2, 4):
        with pytest.raises(ValueError, match="belong together"):
            kernels.gather.chain([[1], [2]], n(count))


@for_each(
    ("nodes", "found"),
    [
        ([], (-1, -1, -1)),
        ([(), [1]], (0, -1, -1)),
        ([1, (2,), [3], (4,)], (1, -1, 0)),
        ([np.zeros(1), np.array(1.0), np.zeros(1), ()], (3, 0, 1)),
        ([None, "ab", np.array(2), np.zeros((0, 2))], (-1, 3, 0)),
    ],
)
def test_kinds(nodes, found):
    assert kernels.gather.kinds(nodes) == found
