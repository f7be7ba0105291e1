/* Arrays over memory that another object owns, and new ones. */
#ifndef LODCORE_BUFFERS_H
#define LODCORE_BUFFERS_H

#include <Python.h>
#include <stdlib.h>
#include <numpy/arrayobject.h>

#ifndef LODCORE_UNUSED
#if defined(__GNUC__)
#define LODCORE_UNUSED __attribute__((unused))
#else
#define LODCORE_UNUSED
#endif
#endif

#if defined(__linux__)
#include <stdint.h>
#include <sys/mman.h>
#endif

/* Request huge pages, as NumPy does for its arrays, before the memory is first touched. */
static LODCORE_UNUSED void want_huge_pages(void *memory, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (size >= (size_t)1 << 22) {
        uintptr_t start = ((uintptr_t)memory + 4095) & ~(uintptr_t)4095;
        (void)madvise((void *)start, (uintptr_t)memory + size - start, MADV_HUGEPAGE);
    }
#else
    (void)memory;
    (void)size;
#endif
}

static LODCORE_UNUSED PyObject *array_over(PyObject *base, PyArray_Descr *dtype, int ndim, npy_intp *shape, npy_intp *strides,
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

/* Return whether a returned array is unchanged and no longer referenced, so that it may be returned again. */
static LODCORE_UNUSED int is_untouched(PyObject *handed, PyObject *owner)
{
    PyArrayObject *own = (PyArrayObject *)owner;
    PyArrayObject_fields *array = (PyArrayObject_fields *)handed;
    const int ndim = PyArray_NDIM(own);
    if (Py_REFCNT(handed) != 1 || array->weakreflist != NULL || array->data != PyArray_DATA(own) || array->nd != ndim
        || array->descr != PyArray_DESCR(own) || ((array->flags ^ PyArray_FLAGS(own)) & ~NPY_ARRAY_OWNDATA) != 0)
        return 0;
    for (int axis = 0; axis < ndim; axis++)
        if (array->dimensions[axis] != PyArray_DIM(own, axis) || array->strides[axis] != PyArray_STRIDE(own, axis))
            return 0;
    return 1;
}

enum { DEEPEST_DROP = 16 };

/* Release a reference to what may hold the next of a long chain of views, without a recursion as deep as the chain.
 *
 * Within calls of itself it puts references aside from a certain depth on; the outermost call releases them. */
static LODCORE_UNUSED void drop(PyObject *held)
{
    static __thread int depth;
    static __thread PyObject **aside;
    static __thread Py_ssize_t count, room;
    if (depth >= DEEPEST_DROP) {
        if (count == room) {
            PyObject **more = (PyObject **)realloc(aside, (size_t)(room + 64) * 2 * sizeof(PyObject *));
            if (more != NULL) {
                aside = more;
                room = (room + 64) * 2;
            }
        }
        if (count < room) {
            aside[count++] = held;
            return;
        }
    }
    depth++;
    Py_DECREF(held);
    if (depth == 1) {
        while (count > 0) {
            held = aside[--count];
            Py_DECREF(held);
        }
        free(aside);
        aside = NULL;
        room = 0;
    }
    depth--;
}

static LODCORE_UNUSED PyObject *empty_array(PyArray_Descr *dtype, int ndim, npy_intp *shape)
{
    Py_INCREF(dtype);
    return PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, NULL, NULL, 0, NULL);
}

#endif
