"""Line coverage of .py and .pyx together, in a copy that is built with line tracing."""

import json
import sys
from pathlib import Path

from tests.builds import tree


def main() -> None:
    """Run the tests in a traced copy, and print the coverage; fail below the minimum in pyproject.toml."""
    coverage = (sys.executable, "-m", "coverage")
    with tree.fresh_directory() as directory:
        tree.copy(directory)
        tree.build(directory, "trace")
        tree.run(directory, *coverage, "run", *tree.pytest()[1:], HYPOTHESIS_PROFILE="handful")
        tree.run(directory, *coverage, "json", "-q", "--fail-under=0", "--omit=nothing")
        measured = set(json.loads((directory / "coverage.json").read_text(encoding="utf-8"))["files"])
        sources = {str(path.relative_to(directory)) for path in (directory / "lodcore").rglob("*.py*")}
        missing = sorted(path for path in sources - measured if Path(path).suffix in (".py", ".pyx"))
        if missing:
            raise SystemExit(f"coverage: not measured: {', '.join(missing)}")
        tree.run(directory, *coverage, "report")


if __name__ == "__main__":
    main()
