"""Methods whose bodies are in a module above: what their first use sets, and where."""

import pytest

from lodcore.base.later import Later, later
from lodcore.operators.registry import OPS

pytestmark = pytest.mark.not_on_reference  # no kernels


def classes():
    """Make a class that declares methods, and one derived from it."""

    class Declares:
        tanh = Later("tanh")
        absent = Later("lodcore.errors")

        @later("sequence_reverse")
        def turned(self): ...

        @later("lodcore.errors")
        def missing(self): ...

    return Declares, type("Derived", (Declares,), {})


@pytest.mark.parametrize("first", ["class", "derived", "instance"])
def test_the_class_that_declares_a_method_gets_it(first):
    base, derived = classes()
    for name, body in (("tanh", "tanh"), ("turned", "sequence_reverse")):
        owner = {"class": base, "derived": derived, "instance": derived()}[first]
        found = getattr(owner, name)
        operator = OPS[body]  # registered by now, also if nothing has imported lodcore.ops before
        assert (found.__func__ if first == "instance" else found) is operator
        if first == "instance":
            assert found.__self__ is owner
        assert vars(base)[name] is operator
        assert name not in vars(derived)


def test_a_declared_method_without_a_body_raises_attribute_error():
    base, derived = classes()
    for owner, name in ((base, "Declares"), (derived, "Derived"), (derived(), "Derived")):
        for missing in ("absent", "missing"):
            with pytest.raises(AttributeError, match=f"^{name} has no {missing}$"):
                getattr(owner, missing)
