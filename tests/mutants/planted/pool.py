"""Pooling, tables, SparseTensor."""

from tests.mutants.mutant import Mutant

CELLS = "lodcore/kernels/vectors/pool_cells.h"
LANES = "lodcore/kernels/vectors/pool_lanes.h"
VECTORS = "lodcore/kernels/vectors/pool_vectors.h"
POOL = "lodcore/kernels/vectors/pool.h"
BAGS = "lodcore/kernels/bags.pxd"
TABLES = "lodcore/kernels/embedding.pyx"
OPERATOR = "lodcore/ops/reduce/pool.py"
EMBEDDING = "lodcore/ops/networks/embedding.py"
SPARSE = "lodcore/tensors/sparse_tensor.py"
KERNEL_TESTS = "tests/kernels/test_pool.py"
TABLE_TESTS = "tests/kernels/test_embedding.py"
TESTS = "tests/ops/reduce/test_pool.py tests/operators/test_operators.py -k pool"

MUTANTS = [
    # -- kernels
    Mutant(
        "sums-of-cells-may-be-negative-zero",
        LANES,
        "STORE(out, ADD(part[0], ALL(0)));",
        "STORE(out, part[0]);",
        KERNEL_TESTS,
    ),
    Mutant(
        "lanes-in-another-order",
        LANES,
        "part[j] = PATH(fold)(part[j], part[j + half], verb);\n    return part[0];\n}\n\nTARGET LODCORE_INLINE",
        "part[j] = PATH(fold)(part[2 * j], part[2 * j + 1], verb);\n    return part[0];\n}\n\nTARGET LODCORE_INLINE",
        KERNEL_TESTS,
    ),
    Mutant(
        "plain-sums-in-fewer-lanes",
        CELLS,
        "return OF_CELL(sum_few)(x, (PLACE)length, LANES / 4);",
        "return OF_CELL(sum_few)(x, (PLACE)length, LANES / 8);",
        KERNEL_TESTS,
    ),
    Mutant(
        "a-later-zero-wins",
        LANES,
        "odd = nan | (int)EQUAL(part[0], ALL(0));",
        "odd = nan;",
        KERNEL_TESTS,
    ),
    Mutant(
        "nan-unseen-in-long-sequences",
        LANES,
        "            if (verb != SUM)\n                NOTE_NANS(*nans, cells, cells);\n            part[j]",
        "            part[j]",
        KERNEL_TESTS,
    ),
    Mutant(
        "the-last-of-equal-cells-wins",
        CELLS,
        "int good = verb == GREATEST ? best >= cell : best <= cell;",
        "int good = verb == GREATEST ? best > cell : best < cell;",
        KERNEL_TESTS,
    ),
    Mutant(
        "spread-past-the-end",
        CELLS,
        "if (r + span <= n_rows) {",
        "if (r < n_rows) {",
        KERNEL_TESTS,
    ),
    Mutant(
        "empty-sequences-take-a-neighbour",
        "lodcore/kernels/pool.pyx",
        "one = one if offsets[s + 1] > offsets[s] else 0",
        "pass",
        KERNEL_TESTS,
    ),
    Mutant(
        "roots-of-lengths-forgotten",
        CELLS,
        "divide == BY_ROOT ? (CELL)sqrt((double)length) : (CELL)length;",
        "(CELL)length;",
        KERNEL_TESTS,
    ),
    Mutant(
        "a-number-out-of-range-passes",
        TABLES,
        "found |= <uint64_t> (<uint64_t> index[j] >= <uint64_t> n_rows)",
        "found |= <uint64_t> (<uint64_t> index[j] > <uint64_t> n_rows)",
        TABLE_TESTS,
    ),
    Mutant(
        "long-bags-lose-their-first-part",
        BAGS,
        "fold(&best, one, verb)",
        "best = one",
        TABLE_TESTS,
    ),
    # -- rules
    Mutant(
        "gradient-of-the-mean-undivided",
        OPERATOR,
        'over_sequences(kernels.pool.spread_rows, "so.r", given, offsets, DIVIDE[pool_type], rows)',
        'over_sequences(kernels.pool.spread_rows, "so.r", given, offsets, 0, rows)',
        TESTS,
    ),
    Mutant(
        "pooling-ignores-finer-levels",
        OPERATOR,
        "    offsets = below(lod, k)\n    row",
        "    offsets = lod_body.offsets_view(lod, k)\n    row",
        TESTS,
    ),
    Mutant(
        "means-of-integers-are-integers",
        OPERATOR,
        'return (whole, dtype) if pool_type in ("max", "min") else (np.dtype(np.float64), np.dtype(np.float64))',
        'return (whole, dtype) if pool_type in ("max", "min") else (np.dtype(np.float64), whole)',
        TESTS,
    ),
    Mutant(
        "padding-has-a-gradient",
        EMBEDDING,
        "kept = index != skip",
        "kept = index >= 0",
        "tests/ops/reduce/test_pool.py",
    ),
    # -- sparse
    Mutant(
        "merged-rows-are-not-added",
        SPARSE,
        'add_rows("SparseTensor.merge", rows, places, merged)',
        "merged[places] = rows",
        "tests/tensors/test_sparse_tensor.py",
    ),
]
