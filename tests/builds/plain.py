"""A build without x86 instructions, as for other processors: it must return the same bits, and pass the kernel tests.

Products of matrices are NumPy's there (`kernels/vectors/matrix.h`), so `test_matrix` is omitted.
"""

import sys

from tests.builds import tree
from tests.helpers.paths import FILES

CALLS = "\n".join(
    f"import tests.kernels.test_{family} as {family}; print('{family}', {family}.digest())" for family in FILES
)


def main() -> None:
    """Build a copy without x86 instructions, compare its bits with those of this build, and test its kernels."""
    with tree.fresh_directory() as directory:
        tree.copy(directory)
        tree.build(directory, "plain")
        here, there = (tree.output(root, sys.executable, "-c", CALLS) for root in (tree.ROOT, directory))
        different = {one.split()[0] for one, other in zip(here, there, strict=True) if one != other}
        if different:
            raise SystemExit(f"plain: other bits without instructions: {', '.join(sorted(different))}")
        print(f"the same bits without instructions: {', '.join(FILES)}")
        tree.run(directory, *tree.pytest("tests/kernels", "tests/test_errors.py"), HYPOTHESIS_PROFILE="handful")


if __name__ == "__main__":
    main()
