"""Roles, arguments, LoD rules and alignment."""

from tests.mutants.mutant import Mutant

OPERANDS = "lodcore/operators/operands.py"
ROLES = "lodcore/operators/roles.py"

TEST_RECORDED_LISTS = "tests/operators/test_recorded_lists.py"

MUTANTS = [
    Mutant(
        "other-structure-is-taken",
        "lodcore/operators/alignment.py",
        "        if own is not lod:\n",
        "        if own is None:\n",
        "tests/operators/test_operators.py::test_wrong_calls",
    ),
    Mutant(
        "gradient-of-a-stretched-row",
        OPERANDS,
        ("stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)"),
        ("stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] > 2)"),
        "tests/operators/test_operators.py::test_gradients_are_derivatives[lodcore.kernels-add]",
    ),
    Mutant(
        "truncated-when-written",
        OPERANDS,
        "    if (exact or text) and not np.array_equal(made, whole):",
        "    if (exact or text) and made.shape != whole.shape:",
        "tests/test_errors.py",
    ),
    Mutant(
        "finite-numbers-become-infinite",
        OPERANDS,
        'np.errstate(invalid="ignore", over="raise")',
        'np.errstate(invalid="ignore", over="ignore")',
        "tests/operators/test_empty_sequences.py",
    ),
    Mutant(
        "lists-of-integers-become-arrays",
        ROLES,
        '"Index", _copied, _stays, ',
        '"Index", as_array, _stays, ',
        TEST_RECORDED_LISTS,
    ),
    Mutant(
        "lists-are-shared-with-who-records",
        ROLES,
        "return [_copied(where, x) if isinstance(x, (list, tuple)) else x for x in given]",
        "return given",
        TEST_RECORDED_LISTS,
    ),
]
