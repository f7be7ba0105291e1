/* The loops over steps, for both types of cells. */
#ifndef LODCORE_GATES_LOOPS_H
#define LODCORE_GATES_LOOPS_H

#include "gates.h"
#include "matrix.h"

#define CELLS "gates_steps.h"
#include "both_cells.h"

#endif
