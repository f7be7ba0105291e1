# cython: boundscheck=True, nonecheck=True
"""Call plans of vjp rules: the slots that a rule reads in the frame of a recorded call, and the needed gradients."""

from lodcore.graph.engine cimport Call

from lodcore.base.dispatch import Symbol


cdef class Plan:
    """The call plan of a vjp rule: the slots, in the frame of a call, of the values that the rule reads.

    Parameters
    ----------
    rule : VJPRule
    places : dict
        The slots of a frame, by name.
    cotangents : int
        The number of cotangents of the rule; 0 for all of them as a tuple.
    """

    def __init__(self, rule, dict places, Py_ssize_t cotangents, tuple residuals):
        cdef Py_ssize_t j
        names = rule.names
        self.function, self.elementwise, self.cotangents = rule.function, rule.elementwise, cotangents
        self.count, self.reads_out, self.reads_frame = len(names), "out" in names, False
        self.of_arrays = "context" not in names and not set(residuals).intersection(names)
        if self.count + max(cotangents, 1) > MOST:
            raise TypeError(f"define_vjp: names {self.count} arguments; {MOST - cotangents} is the most")
        for j, name in enumerate(names):
            self.slots[j] = 0
            if name in rule.operands:
                self.kinds[j], self.slots[j] = OPERAND, rule.operands.index(name)
            elif name == "out":
                self.kinds[j] = RESULT
            elif name == "needs":
                self.kinds[j] = NEEDS
            elif name == "context":
                self.kinds[j] = CONTEXT
            else:
                self.kinds[j], self.slots[j], self.reads_frame = VALUE, places[name], True


cdef class Return:
    """The prepared backward pass through one operator.

    Parameters
    ----------
    operator : Operator
    needed : set of Variable
        The Variables whose gradients are needed.
    call : Call, optional
        The slots of the operator in a frame shared with others; without it, the operator has a separate frame.
    shared : set of Variable, optional
        The Variables with one value in all calls of this operator, whose gradients are not read between them.
    """

    def __init__(self, operator, set needed, Call call=None, set shared=None):
        cdef dict arguments = operator.arguments
        op = operator.op
        rule = op.rule_of(arguments)
        self.operator, self.outputs, self.names = operator, operator.outputs, op.tensors
        self.places = op.slots if call is None else call.places
        self.row, self.listed, self.prepared = -1, None, 0 if call is None else call.prepared
        self.targets = [wanted_of(arguments[name], needed) for name in self.names]
        if rule is not None:
            if rule.plan is None:
                rule.plan = {}
            self.plan = rule.plan.get(op)
            if self.plan is None or call is not None and self.plan.reads_frame:
                self.plan = Plan(rule, self.places, 0 if op.results is None else op.results, op.residuals)
                if call is None or not self.plan.reads_frame:
                    rule.plan[op] = self.plan
            if rule.operands is not op.tensors:
                self.listed = self.places[self.names[0]]
                self.targets = self.targets[0] or [None] * len(rule.operands)
        self.operands = [self.places[name] for name in self.names]
        self.flat = len(self.operands) <= MOST and all([type(place) is int for place in self.operands])
        for j, place in enumerate(self.operands if self.flat else []):
            self.slots[j] = place
        self.needs = tuple([needs_of(target) for target in self.targets])
        one = len(self.outputs) == 1 and self.listed is None and self.flat
        if shared and self.plan is not None and self.plan.of_arrays and one:
            self.look_for_shared(op, arguments, shared)

    cdef look_for_shared(self, op, dict arguments, set shared):
        """Determine whether calls differ only in one operand in which the operator is row-wise."""
        cdef list differ = []
        for j, name in enumerate(self.names):
            given = arguments[name]
            if isinstance(given, Symbol) and given not in shared or type(given) is list:
                differ.append(j)
        if len(differ) != 1 or self.names[differ[0]] not in op.rowwise:
            return
        needs_of_shared = tuple([wanted and j != differ[0] for j, wanted in enumerate(self.needs)])
        if any(needs_of_shared):
            self.row, self.needs_of_shared = differ[0], needs_of_shared
            self.needs_of_row = tuple([wanted and j == differ[0] for j, wanted in enumerate(self.needs)])


cdef wanted_of(given, set needed):
    """Return a Variable if its gradient is needed, for a list its Variables, and None otherwise."""
    if isinstance(given, Symbol):
        return given if given in needed else None
    if type(given) is list:
        wanted = [wanted_of(x, needed) for x in <list> given]
        return wanted if any([x is not None for x in wanted]) else None
    return None


cdef needs_of(target):
    """Return whether a gradient is needed; for a list, for each entry."""
    if type(target) is list:
        return tuple([one is not None for one in <list> target])
    return target is not None
