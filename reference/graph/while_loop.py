"""The meaning of a while_loop: names and values, and instructions that read old values and write new ones.

An instruction is a function of `old`, the values that it reads, and `new`, the values of the next step; BREAK ends the
loop.
"""

BREAK = "break"


def while_loop(init, body, advance=None):
    """Run a body until it breaks, and return the final values of its names.

    Parameters
    ----------
    init : dict
        Initial values by name: loop variables, arrays, and values from outside.
    body : list of callable
        Of (old, new).
    advance : dict, optional
        The increment of each counter after a step.
    """
    old, new = dict(init), dict(init)
    while True:
        for run in body:
            if run(old, new) is BREAK:
                return new
        for name, by in (advance or {}).items():
            new[name] = new[name] + by
        old = dict(new)


def compute(target, function, *names):
    """Compute something that the rest of the step can read."""

    def run(old, new):
        old[target] = function(*[old[name] for name in names])

    return run


def update(name, value):
    """Set the value of a loop variable in the next step."""

    def run(old, new):
        new[name] = old[value]

    return run


def break_if(condition):
    """End the loop if a condition holds."""
    return lambda old, new: BREAK if old[condition] else None


def write(array, index, value):
    """Write an element of an array, which is a dict here; the rest of the step and the next step can read it."""

    def run(old, new):
        if old[index] < 0:
            raise IndexError(old[index])
        old[array] = new[array] = {**old[array], int(old[index]): old[value]}

    return run


def read(target, array, index, boot=None):
    """Read an element of an array; at negative indices return the value for the first step."""

    def run(old, new):
        if boot is not None and old[index] < 0:
            old[target] = old[boot]
        elif int(old[index]) in old[array]:
            old[target] = old[array][int(old[index])]
        else:
            raise IndexError(old[index])

    return run


def nested(carried, body, advance=None):
    """Run an inner loop: its names start with their current values, and the carried ones are assigned afterwards.

    Parameters
    ----------
    carried : dict
        For each name after the loop, its name in the loop. Arrays are carried to the next step, too.
    body : list of callable
    advance : dict, optional
    """

    def run(old, new):
        inner = while_loop(old, body, advance)
        for name, inside in carried.items():
            old[name] = inner[inside]
            if isinstance(inner[inside], dict):
                new[name] = inner[inside]

    return run
