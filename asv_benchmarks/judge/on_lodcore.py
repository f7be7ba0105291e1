"""lodcore itself, held like the others."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import lodcore
from reference.cases import OPERATORS as CASES
from tests.helpers.run_cases import run

VERSION = lodcore.__version__


def named(name):
    return lambda arguments, cotangents: run(name, arguments, cotangents)


OPERATORS = {name: named(name) for name in CASES}
