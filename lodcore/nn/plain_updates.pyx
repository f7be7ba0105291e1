# cython: boundscheck=True, nonecheck=True
"""Updates of trees of plain arrays by optimizers: what has nothing to check or to convert, without a call per leaf."""

cimport lodcore.kernels.arrays as cnp

cnp.import_array()

cdef int DEEPEST = 64  # deeper trees, such as one that contains itself, are left to the general functions


cdef class Plain:
    """Parameters, gradients and states that are contiguous arrays of one shape and one native float32 or float64.

    Attributes
    ----------
    form : object
        A copy of the tree of parameters, with the number of each leaf.
    rows : list of list of ndarray
        The parameter, its gradient and its entries of the state, for each leaf.
    """

    cdef readonly object form
    cdef readonly list rows

    def __cinit__(self):
        self.form, self.rows = None, []


def plain(list trees not None, bint in_place):
    """Return the leaves of parameters, gradients and states together, if there is nothing to check or to convert.

    Parameters
    ----------
    trees : list of tree
        Parameters, gradients, and the trees of the state.
    in_place : bool
        Whether parameters and states will be overwritten.

    Returns
    -------
    Plain or None
        None if anything else is among them, such as None, a number, or a SparseTensor.
    """
    cdef Plain made = Plain()
    made.form = gathered(trees, made.rows, in_place, 0)
    return None if made.form is None else made


cdef object gathered(list trees, list rows, bint in_place, int depth):
    """Append the arrays of each leaf, and return the form; None if the trees have not one form, or others in them."""
    cdef list parts
    tree = trees[0]
    kind = type(tree)
    for x in trees:
        if type(x) is not kind:
            return None
    if kind is cnp.ndarray:
        if not fits_together(trees, in_place):
            return None
        rows.append(trees)
        return len(rows) - 1
    if depth == DEEPEST:
        return None
    if kind is dict:
        return gathered_dicts(trees, rows, in_place, depth)
    if kind is not list and kind is not tuple:
        return None
    parts = [list(x) for x in trees]  # which other threads cannot change
    made = []
    for x in parts:
        if len(<list> x) != len(<list> parts[0]):
            return None
    for j in range(len(<list> parts[0])):
        found = gathered([(<list> x)[j] for x in parts], rows, in_place, depth + 1)
        if found is None:
            return None
        made.append(found)
    return made if kind is list else tuple(made)


cdef object gathered_dicts(list trees, list rows, bint in_place, int depth):
    """Do the same for dicts, whose keys may be in another order."""
    cdef dict made = {}
    parts = [(<dict> x).copy() for x in trees]
    for x in parts:
        if len(<dict> x) != len(<dict> parts[0]):
            return None
    for key in <dict> parts[0]:
        row = []
        for x in parts:
            if key not in <dict> x:
                return None
            row.append((<dict> x)[key])
        found = gathered(row, rows, in_place, depth + 1)
        if found is None:
            return None
        made[key] = found
    return made


cdef bint fits_together(list row, bint in_place) except -1:
    """Return whether arrays are contiguous, of one shape and one native dtype, and writable where it is needed."""
    cdef Py_ssize_t j
    cdef cnp.ndarray first = row[0], x
    cdef int kind = cnp.PyArray_TYPE(first)
    if kind != cnp.NPY_FLOAT and kind != cnp.NPY_DOUBLE:
        return False
    for j in range(len(row)):
        x = row[j]
        if cnp.PyArray_TYPE(x) != kind or not cnp.PyArray_ISNOTSWAPPED(x) or not cnp.PyArray_SAMESHAPE(x, first):
            return False
        if not cnp.PyArray_IS_C_CONTIGUOUS(x) or in_place and j != 1 and not cnp.PyArray_ISWRITEABLE(x):
            return False
    return True


def updated(Plain plain not None, calls, bint in_place):
    """Compute the next parameters and states.

    Parameters
    ----------
    plain : Plain
    calls : Calls
        Those of the kernel.
    in_place : bool
        Whether to overwrite parameters and states.

    Returns
    -------
    list of tree
        The parameters, followed by the trees of the state.
    """
    cdef Py_ssize_t j, count = 0
    cdef list row, made, flat, outs, columns
    cdef list first = calls.first
    cdef bint in_one = calls.in_one
    kernel, numbers, rows = calls.kernel, calls.numbers, []
    for row in plain.rows:
        count = len(row)
        flat = [line(x) for x in row]
        if in_place:
            made, outs = [row[0], *row[2:]], [flat[0], *flat[2:]]
        else:
            made = [like(row[0]) for _j in range(count - 1)]
            outs = [line(x) for x in made]
        if in_one:
            first.append(kernel(flat, numbers, outs))
        else:
            calls.add(flat, outs)
        rows.append(made)
    calls.run()
    columns = [[(<list> made)[j] for made in rows] for j in range(count - 1)]
    return [built(plain.form, column) for column in columns]


def run_all(list calls not None):
    """Call functions one after another; between compiled ones, no signal is handled."""
    for call in calls:
        call()


cdef inline object line(cnp.ndarray x):
    """Return the numbers of an array as a vector."""
    return x if cnp.PyArray_NDIM(x) == 1 else cnp.PyArray_Ravel(x, cnp.NPY_CORDER)


cdef inline object like(cnp.ndarray x):
    """Return an uninitialised array of the same shape and dtype."""
    return cnp.PyArray_EMPTY(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.PyArray_TYPE(x), 0)


cdef object built(form, list leaves):
    """Return a tree of a form with other leaves."""
    if type(form) is int:
        return leaves[<Py_ssize_t> form]
    if type(form) is dict:
        return {key: built(part, leaves) for key, part in (<dict> form).items()}
    made = [built(part, leaves) for part in form]
    return made if type(form) is list else tuple(made)
