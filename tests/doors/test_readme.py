"""The example of README.md with a data frame, run with Polars."""

import numpy as np

import lodcore
from tests.helpers.libraries import MARKS, imported
from tests.helpers.pages import code_of

polars = imported("polars")
pytestmark = MARKS


def test_the_example_with_a_data_frame():
    (code,) = [one for one in code_of("README.md") if "polars.DataFrame" in one]
    *lines, last = code.strip().splitlines()
    names = {"polars": polars, "lodcore": lodcore, "np": np}
    exec("\n".join(lines), names)
    assert names["sessions"].tolist() == [[["home", "buy"], ["home"]], [["home"]]]
    found = eval(last.partition("  #")[0], names)
    assert dict(zip(found["user"], found["sessions"], strict=True)) == {"a": 2, "b": 1}
    assert dict(zip(found["user"], found["seconds"], strict=True)) == {"a": 3000, "b": 0}
