"""Defects of the cases for other implementations, and defects that the cases were the first to find."""

from tests.mutants.mutant import Mutant

CASES = "tests/reference/test_cases.py"
HOLDING = "tests/reference/test_holding.py"
DUAL = "tests/reference/test_dual.py"

MUTANTS = [
    # -- derivatives
    Mutant("derivative-of-a-square-root", "reference/reals.py", "divide(0.5, result)", "divide(1.0, result)", DUAL),
    # -- drawing, writing, reading
    Mutant(
        "numbers-of-another-tensor",
        "reference/write_cases.py",
        "start = len(pool)",
        "start = max(len(pool) - 1, 0)",
        CASES,
    ),
    Mutant(
        "reader-looks-at-no-keys",
        "reference/read_cases.py",
        "alike and all(agree(got[name], want[name], tolerance) for name in want)",
        "all(agree(got[name], want[name], tolerance) for name in want if name in ('values', 'elements'))",
        CASES,
    ),
    Mutant(
        "errors-of-others-are-no-failures",
        "reference/read_cases.py",
        'for verdict in ("wrong", "refused", "crashed"))',
        'for verdict in ("wrong",))',
        HOLDING,
    ),
    Mutant(
        "half-a-line-is-an-answer",
        "reference/read_cases.py",
        'if line.endswith("\\n"):',
        "if line:",
        HOLDING,
    ),
    Mutant(
        "missed-corners-are-no-error",
        "reference/write_cases.py",
        "        if missing:\n            raise",
        "        if missing and not found:\n            raise",
        CASES,
    ),
    # -- what the cases found
    Mutant(
        "elements-without-a-gradient-are-holes",
        "lodcore/graph/gradients/cotangents.py",
        "for at, one in known if differentiable(one)}",
        "for at, one in known if at in gradient}",
        "tests/graph/gradients/test_autodiff.py",
    ),
    Mutant(
        "gradient-of-an-extreme-of-nothing",
        "lodcore/ops/reduce/reduce_values.py",
        "reshape(*[values.shape[axis] for axis in front], count)",
        "reshape(*[values.shape[axis] for axis in front], -1)",
        CASES,
    ),
]
