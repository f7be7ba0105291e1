"""The memory limit: that of the machine, or of the container in which the process runs."""

import pytest

from lodcore.base import memory

pytestmark = pytest.mark.not_on_reference  # no kernels

GIB = 2**30


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
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
    ],
)
def test_limits_of_containers(files, limit, tmp_path):
    assert memory.container_memory(written(tmp_path, files)) == limit


def test_the_limit_is_the_least_one():
    found = memory.container_memory() or 2**63
    assert min(memory._physical_memory(), found) == memory.LIMIT
