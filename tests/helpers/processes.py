"""The environment of programs that tests start, and the compiler that they may ask for."""

import os
import shlex
import shutil
import sys


def environment(**variables):
    """Return this process's environment, in which a child imports from the same places, with further variables."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}


def compiler():
    """Return the command of the C compiler, which may be several words (`ccache gcc`); nothing if there is none."""
    for command in (os.environ.get("CC", ""), "gcc", "cc"):
        words = shlex.split(command)
        if words and shutil.which(words[0]):
            return words
    return []
