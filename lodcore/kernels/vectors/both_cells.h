/* The loops of a header, for cells of float and of double. CELLS names that header; whoever includes this defines it. */
#define CELL float
#define OF_CELL(NAME) NAME##_float
#define BODY_OF_CELL(NAME) NAME##_float_body
#include CELLS
#undef CELL
#undef OF_CELL
#undef BODY_OF_CELL

#define CELL double
#define OF_CELL(NAME) NAME##_double
#define BODY_OF_CELL(NAME) NAME##_double_body
#include CELLS
#undef CELL
#undef OF_CELL
#undef BODY_OF_CELL
#undef CELLS
