"""What a while_loop means: names and values, and instructions that look at what was and say what will be.

An instruction is a function of `old`, what is read, and `new`, what goes on to the next step; BREAK ends the loop.
"""

BREAK = "break"


def while_loop(init, body, advance=None):
    """Run a body until it breaks, and give what its names hold then.

    Parameters
    ----------
    init : dict
        First values by name: loop variables, arrays, and what comes from outside.
    body : list of callable
        Of (old, new).
    advance : dict, optional
        What is added to counters after each step.
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
    """Let a loop variable have another value in the next step."""

    def run(old, new):
        new[name] = old[value]

    return run


def break_if(condition):
    """End the loop if a condition holds."""
    return lambda old, new: BREAK if old[condition] else None


def write(array, index, value):
    """Write an element of an array, a dict here; the rest of the step reads it, and so does the next one."""

    def run(old, new):
        if old[index] < 0:
            raise IndexError(old[index])
        old[array] = new[array] = {**old[array], int(old[index]): old[value]}

    return run


def read(target, array, index, boot=None):
    """Read an element of an array; what is given for the first step stands at negative indices."""

    def run(old, new):
        if boot is not None and old[index] < 0:
            old[target] = old[boot]
        elif int(old[index]) in old[array]:
            old[target] = old[array][int(old[index])]
        else:
            raise IndexError(old[index])

    return run


def nested(carried, body, advance=None):
    """Run a loop inside: its names begin with what they are now, and what is carried is what they are afterwards.

    Parameters
    ----------
    carried : dict
        For each name after the loop, the name in it. Arrays go on to the next step, too.
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
