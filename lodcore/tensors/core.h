#ifndef LODCORE_CORE_H
#define LODCORE_CORE_H

#include <Python.h>

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

#endif
