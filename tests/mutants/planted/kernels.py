"""The kernels that gather, count, rank and pad."""

from tests.mutants.mutant import Mutant

ARITHMETIC = "lodcore/kernels/offsets.pxd"
OFFSETS = "lodcore/kernels/vectors/offsets.h"
STEPS = "lodcore/kernels/steps.pxd"
LOD = "lodcore/kernels/lod.pyx"
GATHER = "lodcore/kernels/gather.pyx"
RANK = "lodcore/kernels/rank_table.pyx"
LINES = "lodcore/kernels/lines.pxd"

MUTANTS = [
    # -- kernels: offsets
    Mutant(
        "sum-of-lengths-overflows",
        ARITHMETIC,
        "signs |= length | total",
        "signs |= length",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "sum-of-eight-lengths-overflows",
        OFFSETS,
        "any = _mm512_or_si512(any, x);\n        _mm512_storeu_si512(out + s, x);",
        "_mm512_storeu_si512(out + s, x);",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "last-offset-unchecked",
        LOD,
        "for s in range(n_seqs + 1):\n        if offsets[s] < 0",
        "for s in range(n_seqs):\n        if offsets[s] < 0",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "first-offset-unchecked",
        LOD,
        "if source[0] != 0:",
        "if source[0] < 0:",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "longest-is-last",
        ARITHMETIC,
        "most = offsets[s + 1] - offsets[s] if offsets[s + 1] - offsets[s] > most else most",
        "most = offsets[s + 1] - offsets[s]",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "segment-id-too-large",
        LOD,
        "following >= n_seqs:",
        "following > n_seqs:",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "segment-ids-may-fall",
        LOD,
        "if following < now or following < 0",
        "if following < 0",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "empty-sequences-at-the-end-forgotten",
        LOD,
        "while now < n_seqs:",
        "while now < n_seqs - 1:",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "positions-count-from-one",
        LOD,
        "out[at + k] = at + k if positions else s",
        "out[at + k] = at + k + 1 if positions else s",
        "tests/kernels/test_lod.py",
    ),
    # -- kernels: levels
    Mutant(
        "rebase-forgotten",
        LOD,
        "shift_offsets(source, count, -source[0], result)",
        "shift_offsets(source, count, 0, result)",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "compose-of-the-wrong-level",
        LOD,
        "result[s] = through[source[s]]",
        "result[s] = source[s]",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "empty-sequences-at-the-boundary-lost",
        LOD,
        "            result[count - 1] = last\n",
        "            pass\n",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "joined-batches-not-moved-on",
        LOD,
        "shift_offsets(&offsets[0], offsets.shape[0], base, result + at)",
        "shift_offsets(&offsets[0], offsets.shape[0], 0, result + at)",
        "tests/kernels/test_lod.py",
    ),
    Mutant(
        "split-relative-to-the-wrong-level",
        LOD,
        "            for s in range(start, stop + 1):\n                result[at] = inner[s] - inner[start]",
        "            for s in range(start, stop + 1):\n                result[at] = inner[s] - outer[d]",
        "tests/kernels/test_lod.py",
    ),
    # -- kernels: gather
    Mutant(
        "negative-index-off-by-one",
        ARITHMETIC,
        "s = s + n_seqs if s < 0 else s",
        "s = s + n_seqs - 1 if s < 0 else s",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "index-of-one-past-the-end",
        ARITHMETIC,
        "if <uint64_t> s >= <uint64_t> n_seqs:",
        "if <uint64_t> s > <uint64_t> n_seqs:",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "repeats-overflow",
        ARITHMETIC,
        "        if stop - start > INT64_MAX - total:\n            return j\n        total += stop - start",
        "        total = <int64_t> (<uint64_t> total + <uint64_t> (stop - start))",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "empty-ranges-counted",
        ARITHMETIC,
        "        if first == last:\n            out[0] = total",
        "        if first >= last:\n            out[0] = total",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "slice-past-the-end",
        GATHER,
        "<uint64_t> size > <uint64_t> (here - first)",
        "<uint64_t> size > <uint64_t> here",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "slice-from-a-negative-start",
        GATHER,
        "if <uint64_t> first > <uint64_t> here or",
        "if first > here or",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "reversed-range-accepted",
        GATHER,
        "first < 0 or last < first or last > size",
        "first < 0 or last < 0 or last > size",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "sizes-of-ranges-overflow",
        GATHER,
        "if size > INT64_MAX - result[j]:",
        "if size < 0:",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "repeated-rows-not-added",
        GATHER,
        "to[k] += source[k]",
        "to[k] = source[k]",
        "tests/kernels/test_gather.py",
    ),
    Mutant(
        "strided-arrays-joined-as-bytes",
        GATHER,
        "if not cnp.PyArray_IS_C_CONTIGUOUS(array):",
        "if not cnp.PyArray_ISALIGNED(array):",
        "tests/kernels/test_gather.py tests/tensors/test_tensor.py",
    ),
    Mutant(
        "dtypes-of-one-kind-joined-as-bytes",
        GATHER,
        "or array.dtype == like.dtype",
        "or array.dtype.kind == like.dtype.kind",
        "tests/kernels/test_gather.py tests/tensors/test_tensor.py",
    ),
    Mutant(
        "scalars-taken-for-sequences",
        GATHER,
        "cnp.PyArray_NDIM(node) > 0",
        "cnp.PyArray_NDIM(node) >= 0",
        "tests/kernels/test_gather.py tests/tensors/test_nested.py",
    ),
    # -- kernels: rank, pad
    Mutant(
        "unstable-order",
        RANK,
        "for s in range(n_seqs):\n            length = source[s + 1] - source[s]\n            result[place[length]]",
        "for s in range(n_seqs - 1, -1, -1):\n            length = source[s + 1] - source[s]\n"
        "            result[place[length]]",
        "tests/kernels/test_rank_table.py",
    ),
    Mutant(
        "empty-sequences-reach-the-first-step",
        ARITHMETIC,
        "reach = n_seqs - out[0]",
        "reach = n_seqs",
        "tests/kernels/test_rank_table.py",
    ),
    Mutant(
        "sequences-kept-a-step-too-long",
        RANK,
        "if lengths[middle] > step:",
        "if lengths[middle] >= step:",
        "tests/kernels/test_rank_table.py",
    ),
    Mutant(
        "half-of-each-row-moved",
        STEPS,
        "move_steps(rows, 8, offsets,",
        "move_steps(rows, 4, offsets,",
        "tests/kernels/test_rank_table.py",
    ),
    Mutant(
        "filling-on-the-wrong-side",
        LINES,
        "place, gap = out + rest if left else out,",
        "place, gap = out if left else out + rest,",
        "tests/kernels/test_pad.py",
    ),
    Mutant(
        "filling-judged-by-its-last-byte",
        LINES,
        "even &= row[k] == row[0]",
        "even = row[k] == row[0]",
        "tests/kernels/test_pad.py",
    ),
]
