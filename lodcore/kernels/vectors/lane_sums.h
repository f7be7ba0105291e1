/* Sums in 16 lanes: lane k adds lane k + 8, then lane k + 4, and so on until one is left. Included once per type of
 * cells, CELL; OF_CELL(NAME) names its functions. */

LODCORE_INLINE CELL OF_CELL(folded)(CELL *lane)
{
    for (int k = 0; k < 8; k++)
        lane[k] += lane[k + 8];
    for (int k = 0; k < 4; k++)
        lane[k] += lane[k + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

LODCORE_INLINE CELL OF_CELL(one_nan)(CELL x) { return x == x ? x : (CELL)NAN; }
