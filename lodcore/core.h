/* Arrays over memory that another object owns. */
#ifndef LODCORE_CORE_H
#define LODCORE_CORE_H

#include <Python.h>
#include <numpy/arrayobject.h>

static PyObject *array_over(PyObject *base, PyArray_Descr *dtype, int ndim, npy_intp *shape, npy_intp *strides,
                            const void *data, int writable)
{
    Py_INCREF(dtype);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, strides,
                                           (void *)data, writable ? NPY_ARRAY_WRITEABLE : 0, NULL);
    if (array == NULL)
        return NULL;
    Py_INCREF(base);
    if (PyArray_SetBaseObject((PyArrayObject *)array, base) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

static PyObject *empty_array(PyArray_Descr *dtype, int ndim, npy_intp *shape)
{
    Py_INCREF(dtype);
    return PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, NULL, NULL, 0, NULL);
}

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
