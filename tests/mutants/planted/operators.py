"""Roles, arguments, LoD rules and alignment."""

DEFECTS = {
    ("lodcore/operators/alignment.py", "tests/operators/test_operators.py::test_wrong_calls"): [
        ("other-structure-is-taken", "        if own is not lod:\n", "        if own is None:\n"),
    ],
    (
        "lodcore/operators/operands.py",
        "tests/operators/test_operators.py::test_gradients_are_derivatives[lodcore.kernels-add]",
    ): [
        (
            "gradient-of-a-stretched-row",
            "stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)",
            "stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] > 2)",
        ),
    ],
    ("lodcore/operators/operands.py", "tests/test_errors.py"): [
        (
            "truncated-when-written",
            "    if (exact or text) and not np.array_equal(made, whole):",
            "    if (exact or text) and made.shape != whole.shape:",
        ),
    ],
    ("lodcore/operators/operands.py", "tests/operators/test_empty_sequences.py"): [
        (
            "finite-numbers-become-infinite",
            'np.errstate(invalid="ignore", over="raise")',
            'np.errstate(invalid="ignore", over="ignore")',
        ),
    ],
    ("lodcore/operators/roles.py", "tests/operators/test_recorded_lists.py"): [
        ("lists-of-integers-become-arrays", '"Index", _copied, _stays, ', '"Index", as_array, _stays, '),
        (
            "lists-are-shared-with-who-records",
            "return [_copied(where, x) if isinstance(x, (list, tuple)) else x for x in given]",
            "return given",
        ),
    ],
}
