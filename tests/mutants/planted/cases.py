"""Defects of the cases for other implementations, and defects that the cases were the first to find."""

from tests.mutants.mutant import Mutant

CASES = "tests/reference/test_cases.py"
DUAL = "tests/reference/test_dual.py"

MUTANTS = [
    # -- derivatives
    Mutant(
        "derivative-of-a-difference",
        "reference/dual.py",
        "combine(self, 1.0, other, -1.0, self.value - value(other))",
        "combine(self, 1.0, other, 1.0, self.value - value(other))",
        DUAL,
    ),
    Mutant(
        "derivatives-of-one-variable-do-not-add",
        "reference/dual.py",
        "found[name] = found.get(name, 0.0) + along_y * own",
        "found[name] = along_y * own",
        DUAL,
    ),
    Mutant("derivative-of-a-square-root", "reference/reals.py", "divide(0.5, result)", "divide(1.0, result)", DUAL),
    Mutant("quotient-of-a-negative-zero", "reference/reals.py", " * math.copysign(1.0, y)", "", DUAL),
    # -- drawing, writing, reading
    Mutant(
        "giants-are-not-alone",
        "reference/draw.py",
        "8 * longest if s == giant else 0",
        "8 * longest if s == giant else 1",
        CASES,
    ),
    Mutant(
        "cotangents-are-all-one",
        "reference/case.py",
        "total[variable] = total.get(variable, 0.0) + weight * derivative",
        "total[variable] = total.get(variable, 0.0) + derivative",
        CASES,
    ),
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
        "got.keys() == want.keys() and all(agree(got[name], want[name], tolerance) for name in want)",
        "all(agree(got[name], want[name], tolerance) for name in want if name in ('values', 'elements'))",
        CASES,
    ),
    Mutant(
        "reader-allows-too-much-beside-infinity",
        "reference/read_cases.py",
        "where=np.isfinite(want), out=np.ones(want.shape)",
        "out=np.ones(want.shape)",
        CASES,
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
        "gradient-of-a-batch-in-strides",
        "lodcore/graph/gradients/cotangents.py",
        "tensor_core.new_tensor(np.ascontiguousarray(gradient), value.lod)\n    if isinstance(value, TensorArray)",
        "tensor_core.new_tensor(gradient, value.lod)\n    if isinstance(value, TensorArray)",
        "tests/graph/gradients/test_autodiff.py",
    ),
    Mutant(
        "gradient-of-an-extreme-of-nothing",
        "lodcore/ops/reduce/reduce_values.py",
        "reshape(*[values.shape[axis] for axis in front], count)",
        "reshape(*[values.shape[axis] for axis in front], -1)",
        CASES,
    ),
    Mutant(
        "rank-table-in-two-orders",
        "lodcore/tensors/rank_table.py",
        "buffers.sealed(lod.lengths(level)[order])",
        "buffers.sealed(lod.lengths(level))",
        "tests/operators/test_operators.py::test_results_equal_the_oracle[lodcore.kernels-lod_rank_table]",
    ),
]
