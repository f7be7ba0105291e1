/* Steps of optimizers for one type of cells; optimizers.h includes this once per type. */

#include "lane_sums.h"

/* The decay rate of the means is beta; rest is 1 - beta computed in double, which float would round. */
LODCORE_BODY BODY_OF_CELL(adam)(const CELL *x, const CELL *d, const CELL *mean, const CELL *square, int64_t count,
                                CELL rate, CELL beta, CELL rest, CELL other_beta, CELL other_rest, CELL eps, CELL kept,
                                CELL root, CELL *out, CELL *out_mean, CELL *out_square)
{
    LODCORE_EACH
    for (int64_t j = 0; j < count; j++) {
        CELL m = beta * mean[j] + rest * d[j], v = other_beta * square[j] + other_rest * (d[j] * d[j]);
        out[j] = OF_CELL(one_nan)(kept * x[j] - rate * (m / (ROOT(v) * root + eps)));
        out_mean[j] = OF_CELL(one_nan)(m);
        out_square[j] = OF_CELL(one_nan)(v);
    }
}
LODCORE_THRICE(OF_CELL(adam),
               (const CELL *x, const CELL *d, const CELL *mean, const CELL *square, int64_t count, CELL rate, CELL beta,
                CELL rest, CELL other_beta, CELL other_rest, CELL eps, CELL kept, CELL root, CELL *out, CELL *out_mean,
                CELL *out_square),
               (x, d, mean, square, count, rate, beta, rest, other_beta, other_rest, eps, kept, root, out, out_mean,
                out_square))

LODCORE_BODY BODY_OF_CELL(descend)(const CELL *x, const CELL *d, int64_t count, CELL rate, CELL decay, CELL *out)
{
    LODCORE_EACH
    for (int64_t j = 0; j < count; j++)
        out[j] = OF_CELL(one_nan)(x[j] - rate * (d[j] + decay * x[j]));
}
LODCORE_THRICE(OF_CELL(descend), (const CELL *x, const CELL *d, int64_t count, CELL rate, CELL decay, CELL *out),
               (x, d, count, rate, decay, out))

LODCORE_BODY BODY_OF_CELL(roll)(const CELL *x, const CELL *d, const CELL *speed, int64_t count, CELL rate,
                                CELL momentum, CELL decay, CELL *out, CELL *out_speed)
{
    LODCORE_EACH
    for (int64_t j = 0; j < count; j++) {
        CELL v = momentum * speed[j] + (d[j] + decay * x[j]);
        out[j] = OF_CELL(one_nan)(x[j] - rate * v);
        out_speed[j] = OF_CELL(one_nan)(v);
    }
}
LODCORE_THRICE(OF_CELL(roll),
               (const CELL *x, const CELL *d, const CELL *speed, int64_t count, CELL rate, CELL momentum, CELL decay,
                CELL *out, CELL *out_speed),
               (x, d, speed, count, rate, momentum, decay, out, out_speed))

/* Compute the sum of squares in double: lane k of 16 starts at 0 and adds cells k, k + 16, ...; lanes are then added
 * by halves. */
LODCORE_BODY BODY_OF_CELL(squares)(const CELL *x, int64_t count, double *sum)
{
    double lane[SQUARE_LANES] = {0};
    int64_t j = 0;
    for (; j + SQUARE_LANES <= count; j += SQUARE_LANES)
        for (int k = 0; k < SQUARE_LANES; k++)
            lane[k] += (double)x[j + k] * (double)x[j + k];
    for (int k = 0; j + k < count; k++)
        lane[k] += (double)x[j + k] * (double)x[j + k];
    for (int half = SQUARE_LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    *sum = lane[0];
}
LODCORE_THRICE(OF_CELL(squares), (const CELL *x, int64_t count, double *sum), (x, count, sum))
