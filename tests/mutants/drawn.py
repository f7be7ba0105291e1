"""Random defects: the change that a seed draws, the tests that should find it, and those that are known to survive."""

import ast
import functools
import random
import re
from pathlib import Path
from typing import NamedTuple

from tests.builds import tree
from tests.mutants.changes import changed, changes

SEEDS = range(1, 25)  # what `make mutants` draws in `.py` files
COMPILED = [".pyx", ".pxd", ".h"]
COMPILED_SEEDS = range(1, 9)  # and in compiled ones, some of which do not compile
#: Files whose defects show in a demo, or with an installed library only.
NOT_DRAWN = re.compile(r"lodcore/(demo/|interop/\w+\.py)")


class Drawn(NamedTuple):
    """A drawn defect: the file, the function, its line before and after, and the whole text with the defect."""

    path: str
    function: str
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        """Say what was changed, in one line."""
        return f"{self.path}: {self.function}: {self.before} -> {self.after}"


@functools.cache
def files(*endings: str) -> tuple[list[str], list[int]]:
    """List the files that defects are drawn from, with their numbers of lines."""
    every = sorted(path.relative_to(tree.ROOT).as_posix() for path in (tree.ROOT / "lodcore").rglob("*.*"))
    found = [path for path in every if path.endswith(endings) and not NOT_DRAWN.match(path)]
    return found, [len((tree.ROOT / path).read_text(encoding="utf-8").splitlines()) for path in found]


def drawn(seed: int, *endings: str) -> Drawn:
    """Draw a defect: a file by its length, and one of the changes of its text that are another program."""
    generator = random.Random(seed)
    paths, weights = files(*(endings or (".py",)))
    while True:
        path = generator.choices(paths, weights)[0]
        text = (tree.ROOT / path).read_text(encoding="utf-8")
        if not (every := changes(text, Path(path).suffix)):
            continue
        change = every[int(generator.random() * len(every))]
        wrong = changed(text, change)
        if not is_another(wrong, text, path):
            continue
        first = text.encode()[: change.start].decode().count("\n")
        last = text.encode()[: change.stop].decode().count("\n")
        more = wrong.count("\n") - text.count("\n")
        before = " ".join(map(str.strip, text.splitlines()[first : last + 1]))
        after = " ".join(map(str.strip, wrong.splitlines()[first : last + 1 + more]))
        return Drawn(path, change.function, before, after, wrong)


def is_another(wrong: str, text: str, path: str) -> bool:
    """Return whether a changed text is another program; of compiled ones the compiler decides, too."""
    if not path.endswith(".py"):
        return wrong.split() != text.split()
    try:
        return ast.dump(ast.parse(wrong)) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


#: Tests of what uses a folder, where its own tests are few.
USERS = {"ops/dense": "tests/numpy_api", "graph/loops": "tests/nn", "graph/gradients": "tests/nn"}


def stages(path: str, whole: bool) -> list[list[str]]:
    """List the tests that should find a defect of a file: those of its name, of its folder, and of those above.

    A stage runs if those before it found nothing; with `whole`, the last one is the suite.
    """
    place = Path(path).relative_to("lodcore").parent
    tests = tree.ROOT / "tests"
    named = sorted(found.relative_to(tree.ROOT).as_posix() for found in tests.rglob(f"test_{Path(path).stem}.py"))
    named = [file for file in named if not file.startswith("tests/doors/")]  # which need other libraries
    folders = [f"tests/{folder}" for folder in (place, *place.parents) if (tests / folder).is_dir() and folder.parts]
    users = [of for folder, of in USERS.items() if path.startswith(f"lodcore/{folder}/") and f"tests/{folder}" != of]
    others = ["tests/test_errors.py", "tests/test_names_in_errors.py"]
    others += ["tests/operators/test_operators.py", "tests/testing"]
    others += [path] if path.endswith(".py") else ["tests/robustness/test_hostile.py"]
    everything = ["tests", "lodcore"] if whole else [*others, "tests/robustness/test_crashes.py"]
    kept = [stage for stage in (named, *([folder] for folder in folders), users, everything) if stage]
    return [stage for j, stage in enumerate(kept) if stage not in kept[:j]]
