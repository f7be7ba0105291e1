#ifndef LODCORE_CORE_H
#define LODCORE_CORE_H

#include <Python.h>

/* Make an instance of a subclass without going through its own __new__. */
static PyObject *instance_of(PyObject *base, PyObject *type)
{
    PyObject *nothing = PyTuple_New(0);
    if (nothing == NULL)
        return NULL;
    PyObject *made = ((PyTypeObject *)base)->tp_new((PyTypeObject *)type, nothing, NULL);
    Py_DECREF(nothing);
    return made;
}

#endif
