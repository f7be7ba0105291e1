"""Twin of lodcore/kernels/chains.pyx: all instructions run on a number before the next one."""

from numpy import errstate

from reference.instructions import (
    EXPAND,
    LINE,
    MOST,
    ROW,
    SUM,
    TILE,
    UFUNC,
    agree,
    check_instruction,
    compute,
    flags_of,
)


def run_chain(arrays, ufuncs, operands, instructions, count):
    """Run an elementwise program on each number of arrays."""
    agree(len(arrays) > 0 and operands.shape[1] == 4 and instructions.shape[1] == 8 and count >= 0)
    for array in arrays:
        agree(array.dtype == arrays[0].dtype and array.flags.c_contiguous and array.ndim == 2 and array.shape[1] == 1)
    for kind, number, line, column in operands:
        agree(kind in (TILE, ROW, LINE) and line == 1 and column == 0)
        agree(0 <= number < (MOST if kind == TILE else len(arrays)))
        if kind != TILE:
            agree(len(arrays[number]) == count if kind == ROW else len(arrays[number]) > 0)
    for one in instructions:
        agree(one[1] == 1 and (one[0] < SUM or one[0] == UFUNC) and one[0] != EXPAND)
        check_instruction(one, operands, arrays, [], ufuncs)
    met, scratch = {}, {}

    def note(kind, bits):
        met[kind] = True

    with errstate(all="call", call=note):
        for c in range(count):
            for one in instructions:
                compute(one, [_cell(operands, one[2 + k], c, arrays) for k in range(4)], arrays, scratch, ufuncs)
    return flags_of(met)


def _cell(operands, j, c, arrays):
    """Return the number of the array of operand j, its row for number c, and its column."""
    if j < 0:
        return None
    kind, number = operands[j][0], operands[j][1]
    if kind == TILE:
        return -1, c, number
    return number, c if kind == ROW else c % len(arrays[number]), 0
