"""Memory of freed results that later ones get."""

from tests.mutants.mutant import Mutant

BUFFERS = "lodcore/base/buffers.pyx"
HEADER = "lodcore/base/recycling.h"
RECYCLING = "lodcore/base/recycling.pyx"
TESTS = "tests/base/test_recycling.py"

MUTANTS = [
    Mutant("blocks-a-quarter-too-small", HEADER, "(quarter + 1) * step;", "quarter * step;", TESTS),
    Mutant("one-list-for-two-sizes", HEADER, "+ (int)quarter;", "+ (int)(quarter | 1);", TESTS),
    Mutant(
        "block-stays-in-its-list",
        HEADER,
        "            lodcore_kept[list] = block->next;\n            lodcore_kept_bytes -= *whole;\n",
        "            lodcore_kept_bytes -= *whole;\n",
        TESTS,
    ),
    Mutant("taken-blocks-still-counted", HEADER, "            lodcore_kept_bytes -= *whole;\n", "", TESTS),
    Mutant("limit-forgotten", HEADER, "if (lodcore_kept_bytes + whole > lodcore_most_bytes)", "if (0)", TESTS),
    Mutant(
        "too-large-for-the-limit-kept", HEADER, "list >= 0 && whole <= lodcore_most_bytes && ", "list >= 0 && ", TESTS
    ),
    Mutant(
        "zeros-that-are-none",
        HEADER,
        "memset(lodcore_used(block, size, whole), 0, size)",
        "lodcore_used(block, size, whole)",
        TESTS,
    ),
    Mutant(
        "resized-to-less-than-its-list", HEADER, "    (void)lodcore_list(size, &whole);\n", "    whole = size;\n", TESTS
    ),
    Mutant("kept-when-the-limit-falls", HEADER, "if (lodcore_kept_bytes > most)", "if (0)", TESTS),
    Mutant("never-left", RECYCLING, "        end(self._before)\n", "        pass\n", TESTS),
    Mutant("handlers-of-users-put-aside", RECYCLING, "if before is NUMPYS:  # any", "if True:  # any", TESTS),
    Mutant("large-results-from-the-system", BUFFERS, "    if size < LARGE:\n", "    if True:\n", TESTS),
    Mutant("all-later-arrays-recycled", BUFFERS, "        recycling.end(before)\n", "        pass\n", TESTS),
]
