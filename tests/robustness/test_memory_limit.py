"""The memory limit: that of the machine, or of the container in which the process runs."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoD, LoDTensor
from lodcore.base import memory

pytestmark = pytest.mark.not_on_reference  # no kernels

GIB = 2**30


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(root)


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": f"{GIB}\n"}, GIB),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": f"{GIB}\n"}, GIB),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": f"{GIB}\n"}, GIB),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/memory.max": "max\n",
                "sys/fs/cgroup/a/memory.max": f"{2 * GIB}\n",
                "sys/fs/cgroup/memory.max": f"{GIB}\n",
            },
            GIB,
        ),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, None),
        (
            {
                "proc/self/cgroup": "12:cpu,cpuacct:/x\n4:memory:/docker/12\n",
                "sys/fs/cgroup/memory/docker/12/memory.limit_in_bytes": f"{GIB}\n",
            },
            GIB,
        ),
        (
            {
                "proc/self/cgroup": "4:hugetlb,memory:/docker/12\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{3 * GIB}\n",
            },
            3 * GIB,
        ),
        ({"proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/x/memory.max": f"{GIB}\n"}, GIB),
        ({"proc/self/cgroup": "nonsense\n:::\n0::\n", "sys/fs/cgroup/memory.max": "\n"}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "-5\n"}, None),
        ({"proc/self/cgroup": "0:cpu:/\n", "sys/fs/cgroup/memory.max": f"{GIB}\n"}, None),
        ({"proc/self/cgroup": "1::/\n", "sys/fs/cgroup/memory.max": f"{GIB}\n"}, None),
        ({"proc/self/cgroup": "3:memory2:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GIB}\n"}, None),
        ({"proc/self/cgroup": "0:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GIB}\n"}, GIB),
    ],
)
def test_container_memory_reads_the_limits_of_control_groups(files, limit, tmp_path):
    assert memory.container_memory(written(tmp_path, files)) == limit


def test_the_limit_of_memory_is_the_least_of_machine_and_container():
    found = memory.container_memory() or 2**63
    assert min(memory._physical_memory(), found) == memory.LIMIT


@pytest.mark.parametrize(
    ("factors", "fits"),
    [
        ((memory.LIMIT,), True),
        ((memory.LIMIT + 1,), False),
        ((memory.LIMIT, 2), False),
        ((0, 2**63 - 1), True),
        ((0, 2**63), False),
        ((2**62, 0, 2), False),
        ((0, 0, 7), True),
    ],
)
def test_check_size_refuses_results_larger_than_the_memory(factors, fits):
    if fits:
        memory.check_size("f", *factors)
    else:
        with pytest.raises(MemoryError, match=rf"f: the result has {' x '.join(map(str, factors))} = \d+ bytes"):
            memory.check_size("f", *factors)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16])
def test_offsets_become_narrower_as_far_as_they_fit(dtype):
    most = np.iinfo(dtype).max
    for offsets in ([], [0], [0, most]):
        found = memory.narrow("f", np.array(offsets, np.int64), dtype)
        assert (found.tolist(), found.dtype) == (offsets, dtype)
    for offsets in ([0, most + 1], [most, most + 1], [most - 1, 2 * most, 3 * most]):
        with pytest.raises(OverflowError, match=rf"f: offsets: are {offsets[1]} at position 1; .* holds {most}"):
            memory.narrow("f", np.array(offsets), dtype)
    for kind in (bool, "f4", "S8", object):
        with pytest.raises(DTypeError, match=r"f: dtype: is .*; integers are needed"):
            memory.narrow("f", np.array([0, 1]), kind)


class NoInteger:
    """An object that claims to be an integer, and is not."""

    def __index__(self):
        return "5"


def test_numbers_of_rows_are_integers():
    for number in (NoInteger(), "5", 5.0):
        with pytest.raises(DTypeError, match=r"num_rows: is .*; an integer is needed"):
            LoD.from_offsets(num_rows=number)
    assert LoD.from_offsets(num_rows=np.uint8(5)).num_rows == 5


def test_array_of_repeated_lists_beyond_memory_raises_before_allocating():
    with pytest.raises(
        MemoryError, match=r"lodcore.array: obj: the result has 1000000000000 x 8 = 8000000000000 bytes"
    ):
        lodcore.array([[0] * 10**6] * 10**6)
    x = LoDTensor.from_lengths(np.zeros(10**5), np.ones(10**5, int))
    assert x.to_padded(return_mask=True)[1].all()  # the mask takes a byte per row
