/* The loops over steps, for both types of cells. */
#ifndef LODCORE_GATES_LOOPS_H
#define LODCORE_GATES_LOOPS_H

#include "gates.h"
#include "matrix.h"

#define CELL float
#define OF_CELL(NAME) NAME##_float
#include "gates_steps.h"
#undef CELL
#undef OF_CELL

#define CELL double
#define OF_CELL(NAME) NAME##_double
#include "gates_steps.h"
#undef CELL
#undef OF_CELL

#endif
