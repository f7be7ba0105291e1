"""Public names: what several threads that use them first may rely on."""

import inspect
from typing import Any

from lodcore.base.naming import make_public, named


def test_annotations_that_say_nothing_are_removed_without_changing_what_another_thread_may_read():
    def function(x: Any, y: int) -> Any:
        return x

    before = function.__annotations__
    make_public("lodcore.interop", function)
    assert function.__annotations__ == {"y": int}
    assert before == {"x": Any, "y": int, "return": Any}
    after = function.__annotations__
    make_public("lodcore.interop", function)
    assert function.__annotations__ is after


def test_a_wrapped_function_shows_no_annotations_that_say_nothing():
    @named
    def function(x: Any, y: int) -> Any:
        return x

    make_public("lodcore", function)
    assert str(inspect.signature(function)) == "(x, y: int)"
