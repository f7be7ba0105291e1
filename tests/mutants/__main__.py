"""Insert defects one at a time, each into a copy of the tree, and check that the tests find it.

python -m tests.mutants 7 8 9 draws one small change of a `.py` file for each seed (`changes`, `drawn`), with --compiled
of a compiled one (`fragments`); python -m tests.mutants --drawn those of `SEEDS` and of `COMPILED_SEEDS`. The tests of
its name run first, then those of its folder and of the folder above; with --whole the whole suite after them. It fails
if a defect survives that `survivors.py` does not name.

python -m tests.mutants [NAME ...] inserts the listed defects, or the named ones, which are not drawn: of several
changes, or of one that `changes` does not make. It fails if a defect survives or if tests cannot run; a defect whose
text does not occur exactly once in its file is stale: it is reported, and not inserted.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.builds import tree
from tests.mutants.drawn import COMPILED, COMPILED_SEEDS, SEEDS, Drawn, drawn, stages
from tests.mutants.mutant import Mutant
from tests.mutants.planted import MUTANTS
from tests.mutants.survivors import SURVIVORS

MINUTES = 10  # for the tests of one mutant, so that infinite loops are found


def run_tests(
    directory: Path, tests: list[str], minutes: int | None = None, profile: str = "mutants"
) -> tuple[int, str]:
    """Run tests in a directory up to the first failure; return the exit code and the output."""
    command = tree.pytest("-x", "-rfE", "--no-showlocals", *tests)
    environment = {**os.environ, "HYPOTHESIS_PROFILE": profile, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    limit = None if minutes is None else 60 * minutes
    done = subprocess.run(
        command, cwd=directory, env=environment, timeout=limit, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def changed_text(mutant: Mutant) -> str | None:
    """Return the text of the file with the mutant, None if the mutant is stale."""
    path = tree.ROOT / mutant.path
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return text.replace(mutant.old, mutant.new) if text.count(mutant.old) == 1 else None


def verdict(mutant: Mutant, text: str, whole: Path) -> tuple[bool, str]:
    """Return whether the tests find a mutant, and how."""
    directory = whole.with_name(mutant.name)
    shutil.copytree(whole, directory)  # with the times of the files, so that only changed files are rebuilt
    try:
        (directory / mutant.path).write_text(text, encoding="utf-8")
        if not mutant.path.endswith(".py"):
            tree.build(directory, "release")
        code, printed = run_tests(directory, mutant.tests.split(), MINUTES)
    except subprocess.TimeoutExpired:
        return True, f"no end within {MINUTES} minutes"
    finally:
        shutil.rmtree(directory)
    if code < 0:
        return True, f"crash, signal {-code}"
    if code == 1:
        return True, re.findall(r"^(?:FAILED|ERROR) (\S+)", printed, re.MULTILINE)[0]
    return False, "no test fails" if code == 0 else f"tests cannot run (exit code {code})\n{printed[-2000:]}"


def judged(one: Drawn, directory: Path, whole: bool) -> str | None:
    """Return how the tests find a drawn defect, or None if they do not."""
    path, is_compiled = directory / one.path, not one.path.endswith(".py")
    right = path.read_text(encoding="utf-8")
    for stage in stages(one.path, whole):
        path.write_text(one.text, encoding="utf-8")
        try:
            code, printed = run_tests(directory, stage, MINUTES, "handful")
        except subprocess.TimeoutExpired:
            return f"no end within {MINUTES} minutes"
        finally:
            path.write_text(right, encoding="utf-8")
        if code < 0:
            return f"crash, signal {-code}"
        if code not in (0, 5):  # 5: the stage has no tests that run here
            found = re.findall(r"^(?:FAILED|ERROR) (\S+)", printed, re.MULTILINE)
            if found and not is_compiled and run_tests(directory, found[:1], MINUTES, "handful")[0] in (1, 2):
                raise SystemExit(f"mutants: {found[0]} fails without any defect")
            return found[0] if found else f"exit code {code}"
    return None


def judged_when_compiled(one: Drawn, whole: Path, everything: bool) -> str | None:
    """Return how the tests find a drawn defect of compiled code, in a copy that is built for it."""
    directory = whole.with_name("planted")
    shutil.copytree(whole, directory)  # with the times of the files, so that only changed files are rebuilt
    try:
        (directory / one.path).write_text(one.text, encoding="utf-8")
        command = (sys.executable, "setup.py", "-q", "build_ext", "--inplace")
        if subprocess.run(command, cwd=directory, capture_output=True, check=False).returncode:
            return "is no program: it does not compile"
        return judged(one, directory, everything)
    finally:
        shutil.rmtree(directory)


def built_copy(directory: Path) -> Path:
    """Copy the tree with its compiled modules, and with what a build needs to see that they are new."""
    whole = tree.copy(directory / "whole")
    for module in (tree.ROOT / "lodcore").rglob("*.so"):
        shutil.copy2(module, whole / module.relative_to(tree.ROOT))
    for made in (tree.ROOT / "build" / "cython-release", *(tree.ROOT / "build").glob("lib.*")):
        shutil.copytree(made, whole / "build" / made.name)
    return whole


def draw(defects: dict[str, Drawn], everything: bool) -> None:
    """Test drawn defects one after the other, each in a copy of the tree with its compiled modules."""
    started, survivors, known = time.monotonic(), [], 0
    with tree.fresh_directory() as directory:
        whole = built_copy(directory)
        for seed, one in defects.items():
            is_compiled = not one.path.endswith(".py")
            how = judged_when_compiled(one, whole, everything) if is_compiled else judged(one, whole, everything)
            is_known = how is None and (one.path, one.before, one.after) in {row[:3] for row in SURVIVORS}
            verdict = f"killed    {how}" if how else "known     " if is_known else "SURVIVED  "
            print(f"{seed:<6} {verdict}\n       {one}", flush=True)
            known += is_known
            survivors += [] if how or is_known else [seed]
    killed = len(defects) - len(survivors) - known
    print(f"{killed} of {len(defects)} defects killed, {known} known to survive, {time.monotonic() - started:.0f} s")
    if survivors:
        raise SystemExit(f"mutants: survived, seeds: {', '.join(survivors)}")


def chosen_defects(seeds: list[int], is_compiled: bool) -> dict[str, Drawn]:
    """Draw the defects of seeds; without any, those of the fixed lists."""
    if seeds:
        return {str(seed): drawn(seed, *(COMPILED if is_compiled else ())) for seed in seeds}
    found = {str(seed): drawn(seed) for seed in SEEDS}
    return found | {f"c{seed}": drawn(seed, *COMPILED) for seed in COMPILED_SEEDS}


def main() -> None:
    """Test all listed mutants, or the named ones, one per processor at a time; or those that seeds draw."""
    given = [one for one in sys.argv[1:] if not one.startswith("--")]
    if "--drawn" in sys.argv or (given and all(map(str.isdecimal, given))):
        return draw(chosen_defects(list(map(int, given)), "--compiled" in sys.argv), "--whole" in sys.argv)
    chosen = [mutant for mutant in MUTANTS if not sys.argv[1:] or mutant.name in sys.argv[1:]]
    if len({mutant.name for mutant in MUTANTS}) < len(MUTANTS) or not chosen:
        raise SystemExit("mutants: names must differ, and at least one must be chosen")
    found = [(mutant, changed_text(mutant)) for mutant in chosen]
    stale = [mutant.name for mutant, text in found if text is None]
    if stale:
        print(f"stale, not planted: {', '.join(stale)}", flush=True)
    chosen = [mutant for mutant, text in found if text is not None]
    texts = [text for _, text in found if text is not None]
    started = time.monotonic()
    with tree.fresh_directory() as directory:
        whole = tree.copy(directory / "whole")
        tree.build(whole, "release")
        code, text = run_tests(whole, sorted({path for mutant in chosen for path in mutant.tests.split()}))
        if code:
            raise SystemExit(f"mutants: tests fail without any mutant\n{text[-5000:]}")
        print(f"tests pass without mutants ({time.monotonic() - started:.0f} s)", flush=True)
        os.environ.setdefault("LODCORE_JOBS", "1")
        survivors = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            verdicts = pool.map(lambda mutant, text: verdict(mutant, text, whole), chosen, texts)
            for mutant, (killed, how) in zip(chosen, verdicts, strict=True):
                print(f"{'killed' if killed else 'SURVIVED':<9} {mutant.name:<32} {how}", flush=True)
                survivors += [] if killed else [mutant.name]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants killed in {time.monotonic() - started:.0f} s")
    if survivors:
        raise SystemExit(f"mutants: survived: {', '.join(survivors)}")


if __name__ == "__main__":
    main()
