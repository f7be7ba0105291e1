"""The example of README.md with a data frame, run with Polars."""

import re
from pathlib import Path

import numpy as np

import lodcore
from tests.helpers.libraries import MARKS, imported

polars = imported("polars")
pytestmark = MARKS
ROOT = Path(__file__).resolve().parents[2]


def test_the_example_with_a_data_frame():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = [one for one in re.findall(r"```python\n(.*?)```", text, re.S) if "polars.DataFrame" in one]
    *lines, last = code.strip().splitlines()
    names = {"polars": polars, "lodcore": lodcore, "np": np}
    exec("\n".join(lines), names)
    assert names["sessions"].tolist() == [[["home", "buy"], ["home"]], [["home"]]]
    found = eval(last.partition("  #")[0], names)
    assert dict(zip(found["user"], found["sessions"], strict=True)) == {"a": 2, "b": 1}
    assert dict(zip(found["user"], found["seconds"], strict=True)) == {"a": 3000, "b": 0}
