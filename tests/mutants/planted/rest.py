"""The demo, assertions for users, and the reference."""

DEFECTS = {
    ("lodcore/demo/vowels/page.py", "tests/demo/test_printed_numbers.py"): [
        ("best-seed-for-the-mean", "average = float(np.mean(accuracies))", "average = float(np.max(accuracies))"),
    ],
    ("lodcore/demo/vowels/reservoir.py", "tests/demo/test_printed_numbers.py"): [
        ("wrong-end-of-a-recording", '"first" if is_backward else "last"', '"last" if is_backward else "first"'),
    ],
    ("lodcore/testing/assertions.py", "tests/testing/test_assertions.py"): [
        (
            "last-sequence-that-differs",
            "            s = int(np.argmax(differ))\n",
            "            s = int(np.flatnonzero(differ)[-1])\n",
        ),
        (
            "place-of-the-sequence-before",
            'above = int(np.searchsorted(offsets, at, "right")) - 1',
            'above = max(int(np.searchsorted(offsets, at, "left")) - 1, 0)',
        ),
    ],
    ("reference/read_cases.py", "tests/reference/test_cases.py"): [
        (
            "reader-looks-at-no-keys",
            "alike and all(agree(got[name], want[name], tolerance) for name in want)",
            "all(agree(got[name], want[name], tolerance) for name in want if name in ('values', 'elements'))",
        ),
    ],
    ("reference/read_cases.py", "tests/reference/test_holding.py"): [
        (
            "errors-of-others-are-no-failures",
            'for verdict in ("wrong", "refused", "crashed"))',
            'for verdict in ("wrong",))',
        ),
        ("half-a-line-is-an-answer", 'if line.endswith("\\n"):', "if line:"),
    ],
    ("reference/reals.py", "tests/reference/test_dual.py"): [
        ("derivative-of-a-square-root", "divide(0.5, result)", "divide(1.0, result)"),
    ],
    ("reference/write_cases.py", "tests/reference/test_cases.py"): [
        ("numbers-of-another-tensor", "start = len(pool)", "start = max(len(pool) - 1, 0)"),
        (
            "missed-corners-are-no-error",
            "        if missing:\n            raise",
            "        if missing and not found:\n            raise",
        ),
    ],
}
