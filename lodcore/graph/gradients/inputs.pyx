# cython: boundscheck=True, nonecheck=True
"""The inputs of a differentiated function: the Variables that they become on a tape, and their gradients."""

cimport lodcore.kernels.arrays as cnp

from lodcore.base.dispatch cimport VariableBody, variable_of
from lodcore.tensors.lod_tensor_body cimport LoDTensorBody

import numpy as np

from lodcore.graph.variable import Variable
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor

cnp.import_array()


cdef class Taken:
    """A function that converts an input to a Variable of a tape; the tape itself does so with what holds no floats.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    tape : Tape
    """

    cdef object where, tape
    cdef set needed

    def __init__(self, str where not None, tape not None):
        self.where, self.tape, self.needed = where, tape, tape.needed

    def __call__(self, x):
        values = (<LoDTensorBody> x).array if type(x) is LoDTensor else x
        if type(values) is not cnp.ndarray or not cnp.PyArray_ISFLOAT(values):
            return self.tape.begin(self.where, x)
        made = variable_of(Variable, "input", x, None, self.tape)
        self.needed.add(made)
        return made


cdef class Given:
    """A function that returns the gradient of an input, for arrays and LoDTensors that were given no memory for it.

    Parameters
    ----------
    found : dict
        The gradients by Variable.
    owner : GradientOwner
    otherwise : callable
        What returns that of any other input.
    """

    cdef dict found
    cdef object owner, otherwise

    def __init__(self, dict found not None, owner not None, otherwise not None):
        self.found, self.owner, self.otherwise = found, owner.own, otherwise

    def __call__(self, x):
        if type(x) is not Variable:
            return self.otherwise(x)
        held = (<VariableBody> x).held
        is_nested = type(held) is LoDTensor
        values = (<LoDTensorBody> held).array if is_nested else held
        if type(values) is not cnp.ndarray or not cnp.PyArray_ISFLOAT(values) or not cnp.PyArray_ISNOTSWAPPED(values):
            return self.otherwise(x)
        gradient = self.found.get(x)
        if gradient is None:
            own = np.zeros(values.shape, values.dtype)
        elif type(gradient) is cnp.ndarray:
            own = self.owner(gradient)
        else:
            return self.otherwise(x)
        if not is_nested:
            return own
        if not cnp.PyArray_IS_C_CONTIGUOUS(own):
            own = np.ascontiguousarray(own)
        return lod_tensor_body.new_tensor(own, held.lod)
