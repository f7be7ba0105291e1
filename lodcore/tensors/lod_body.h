#ifndef LODCORE_CORE_H
#define LODCORE_CORE_H

#include <Python.h>
#include <stdint.h>

#ifndef LODCORE_UNUSED
#if defined(__GNUC__)
#define LODCORE_UNUSED __attribute__((unused))
#else
#define LODCORE_UNUSED
#endif
#endif

/* Make an instance of a subclass without calling its __new__.
 *
 * It is untracked by the garbage collector, since the objects that it refers to (arrays, bytes, views, another
 * instance) never refer back, and the collector would repeatedly traverse many thousands of instances. */
static LODCORE_UNUSED PyObject *instance_of(PyObject *base, PyObject *type)
{
    PyObject *nothing = PyTuple_New(0);
    if (nothing == NULL)
        return NULL;
    PyObject *made = ((PyTypeObject *)base)->tp_new((PyTypeObject *)type, nothing, NULL);
    Py_DECREF(nothing);
    if (made != NULL && PyObject_IS_GC(made))
        PyObject_GC_UnTrack(made);
    return made;
}

/* The last level that is found from the first one; the positions of those below are listed, once. */
enum { NEAR = 8 };

/* List the position of each level in a block of offsets, whose first level has `count` sequences. */
static LODCORE_UNUSED void list_places(const int64_t *offsets, int64_t count, int64_t n_levels, int64_t *out)
{
    int64_t at = 0;
    for (int64_t k = 0; k < n_levels; k++) {
        out[k] = at;
        at += count + 1;
        count = offsets[at - 1];
    }
}

#endif
