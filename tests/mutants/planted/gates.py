"""Recurrent networks, and the products of their steps."""

from tests.mutants.mutant import Mutant

LANES = "lodcore/kernels/vectors/gates_lanes.h"
STEPS = "lodcore/kernels/vectors/gates_steps.h"
WHOLE = "lodcore/kernels/vectors/matrix_whole.h"
GATES = "lodcore/ops/networks/gates.py"
LSTM = "lodcore/ops/networks/lstm.py"
GRU = "lodcore/ops/networks/gru.py"
KERNEL_TESTS = "tests/kernels/test_gates.py"
MATRIX_TESTS = "tests/kernels/test_matrix.py"
TESTS = "tests/ops/networks/test_recurrent.py"

MUTANTS = [
    Mutant(
        "the-output-gate-sees-the-old-cell",
        LANES,
        "o = o + GET(peep + 2 * width + c) * now;",
        "o = o + GET(peep + 2 * width + c) * old;",
        KERNEL_TESTS,
    ),
    Mutant(
        "the-cotangent-of-the-cell-left-out",
        LANES,
        "d_now = d_now + GET(OF_BATCH(d_cell, width, 0));",
        ";",
        KERNEL_TESTS,
    ),
    Mutant("the-carry-forgets-the-forget-gate", LANES, "d_old = d_now * f;", "d_old = d_now;", KERNEL_TESTS),
    Mutant("large-tanh-without-its-sign", LANES, "OF(if_less)(x, zero, -large, large)", "large", KERNEL_TESTS),
    Mutant(
        "the-boot-state-is-not-multiplied",
        STEPS,
        "CELL *made = (t > 0 || booted) && state_width > 0 ? products : NULL;",
        "CELL *made = t > 0 && state_width > 0 ? products : NULL;",
        KERNEL_TESTS,
    ),
    Mutant(
        "depth-beyond-a-block-starts-anew",
        WHOLE,
        "OF_CELL(PANEL), columns - c, adding || k > 0,",
        "OF_CELL(PANEL), columns - c, adding,",
        MATRIX_TESTS,
    ),
    Mutant(
        "gradients-of-boot-states-by-rank", LSTM, "d_h_0[run.order] = d_state", "d_h_0[: len(d_state)] = d_state", TESTS
    ),
]
