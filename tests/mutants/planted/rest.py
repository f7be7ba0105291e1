"""The demo, assertions for users, and the reference."""

from tests.mutants.mutant import Mutant

ASSERTIONS = "lodcore/testing/assertions.py"
READ_CASES = "reference/read_cases.py"
WRITE_CASES = "reference/write_cases.py"

TEST_ASSERTIONS = "tests/testing/test_assertions.py"
TEST_CASES = "tests/reference/test_cases.py"
TEST_HOLDING = "tests/reference/test_holding.py"
TEST_NUMBERS = "tests/demo/test_printed_numbers.py"

MUTANTS = [
    Mutant(
        "best-seed-for-the-mean",
        "lodcore/demo/vowels/page.py",
        "average = float(np.mean(accuracies))",
        "average = float(np.max(accuracies))",
        TEST_NUMBERS,
    ),
    Mutant(
        "wrong-end-of-a-recording",
        "lodcore/demo/vowels/reservoir.py",
        '"first" if is_backward else "last"',
        '"last" if is_backward else "first"',
        TEST_NUMBERS,
    ),
    Mutant(
        "last-sequence-that-differs",
        ASSERTIONS,
        "            s = int(np.argmax(differ))\n",
        "            s = int(np.flatnonzero(differ)[-1])\n",
        TEST_ASSERTIONS,
    ),
    Mutant(
        "place-of-the-sequence-before",
        ASSERTIONS,
        'above = int(np.searchsorted(offsets, at, "right")) - 1',
        'above = max(int(np.searchsorted(offsets, at, "left")) - 1, 0)',
        TEST_ASSERTIONS,
    ),
    Mutant(
        "reader-looks-at-no-keys",
        READ_CASES,
        "alike and all(agree(got[name], want[name], tolerance) for name in want)",
        ("all(agree(got[name], want[name], tolerance) for name in want if name in ('values', 'elements'))"),
        TEST_CASES,
    ),
    Mutant(
        "errors-of-others-are-no-failures",
        READ_CASES,
        'for verdict in ("wrong", "refused", "crashed"))',
        'for verdict in ("wrong",))',
        TEST_HOLDING,
    ),
    Mutant("half-a-line-is-an-answer", READ_CASES, 'if line.endswith("\\n"):', "if line:", TEST_HOLDING),
    Mutant(
        "derivative-of-a-square-root",
        "reference/reals.py",
        "divide(0.5, result)",
        "divide(1.0, result)",
        "tests/reference/test_dual.py",
    ),
    Mutant("numbers-of-another-tensor", WRITE_CASES, "start = len(pool)", "start = max(len(pool) - 1, 0)", TEST_CASES),
    Mutant(
        "missed-corners-are-no-error",
        WRITE_CASES,
        "        if missing:\n            raise",
        "        if missing and not found:\n            raise",
        TEST_CASES,
    ),
]
