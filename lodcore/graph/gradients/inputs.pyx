# cython: boundscheck=True, nonecheck=True
"""The inputs of a differentiated function: the Variables that they become on a tape, and their gradients."""

cimport lodcore.kernels.arrays as cnp

from lodcore.base.dispatch cimport VariableBody, variable_of

import numpy as np

from lodcore.graph.variable import Variable

cnp.import_array()


cdef class Taken:
    """A function that converts an input to a Variable of a tape; the tape itself does so with what is no plain array.

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
        if type(x) is not cnp.ndarray or not cnp.PyArray_ISFLOAT(x):
            return self.tape.begin(self.where, x)
        made = variable_of(Variable, "input", x, None, self.tape)
        self.needed.add(made)
        return made


cdef class Given:
    """A function that returns the gradient of an input, for arrays that were given no memory for it.

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
        if type(held) is not cnp.ndarray or not cnp.PyArray_ISFLOAT(held):
            return self.otherwise(x)
        gradient = self.found.get(x)
        if gradient is None:
            return np.zeros(held.shape, held.dtype)
        return self.owner(gradient) if type(gradient) is cnp.ndarray else self.otherwise(x)
