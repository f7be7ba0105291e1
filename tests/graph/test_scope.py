"""Scopes: a chain of names, compared with a model of dicts."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lodcore import DTypeError
from lodcore.graph import Executor, Scope, Variable

pytestmark = pytest.mark.not_on_reference  # no kernels

NAMES = st.sampled_from(["w", "b", "state", ""])


class Model:
    """A Scope as a dict of values, a parent and kids."""

    def __init__(self, parent=None):
        self.values, self.parent, self.kids = {}, parent, []

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope.values:
                return scope
            scope = scope.parent
        return None


class ScopeMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.pairs = [(Scope(), Model())]

    def pair(self, at):
        return self.pairs[at % len(self.pairs)]

    @rule(at=st.integers(0, 20), name=NAMES)
    def make(self, at, name):
        scope, model = self.pair(at)
        variable = scope.var(name)
        assert isinstance(variable, Variable)
        assert variable.name == name
        assert variable is scope.var(name)
        model.values.setdefault(name, None)

    @rule(at=st.integers(0, 20), name=NAMES, value=st.integers(0, 9))
    def write(self, at, name, value):
        scope, model = self.pair(at)
        found, owner = scope.find_var(name), model.find(name)
        assert (found is None) == (owner is None)
        if found is not None:
            found.set(value)
            owner.values[name] = value

    @rule(at=st.integers(0, 20))
    def nest(self, at):
        scope, model = self.pair(at)
        kid, other = scope.new_scope(), Model(model)
        model.kids.append(other)
        self.pairs.append((kid, other))

    @rule(at=st.integers(0, 20))
    def drop(self, at):
        scope, model = self.pair(at)
        scope.drop_kids()
        model.kids.clear()

    @rule(at=st.integers(0, 20), name=NAMES)
    def erase(self, at, name):
        scope, model = self.pair(at)
        if name in model.values:
            scope.erase(name)
            del model.values[name]
        else:
            with pytest.raises(KeyError):
                scope.erase(name)

    @invariant()
    def check(self):
        models = {id(model): scope for scope, model in self.pairs}
        for scope, model in self.pairs:
            assert scope.local_var_names() == list(model.values)
            assert scope.parent is (None if model.parent is None else models[id(model.parent)])
            assert [id(kid) for kid in scope.kids] == [id(models[id(kid)]) for kid in model.kids]
            for name in ["w", "b", "state", ""]:
                owner = model.find(name)
                found = scope.find_var(name)
                assert (name in scope) == (owner is not None) == (found is not None)
                if owner is not None and owner.values[name] is not None:
                    assert int(found.get()) == owner.values[name]
                elif owner is not None:
                    assert not found.has_value


TestScope = ScopeMachine.TestCase


def test_scopes_behave_as_chains_of_dicts():
    scope = Scope()
    scope.var("w").set(np.ones(2))
    scope.new_scope().new_scope().var("w").set(1.0)
    assert repr(scope) == "Scope(w; 1 kid)"
    assert repr(scope.kids[0]) == "Scope(; 1 kid)"
    for wrong in (5, None, Variable("w")):
        for method in (scope.var, scope.find_var, scope.__contains__):
            with pytest.raises(DTypeError, match="Scope: name: is"):
                method(wrong)
    for wrong in (5, None, ["w"]):
        with pytest.raises(DTypeError, match="Scope: name: is"):
            scope.erase(wrong)
    for wrong in ("w", 5, None):
        for method in (scope.get, lambda wrong: scope.set(wrong, 1.0)):
            with pytest.raises(DTypeError, match=r"Scope.[gs]et: parameter: is .*; a Variable is needed"):
                method(wrong)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_scope_is_not_copied_and_the_error_says_what_stores_it(copied):
    scope = Scope()
    scope.var("a").set(np.ones(2))
    for one in (scope, Executor(), [scope]) if copied is not copy.copy else (scope,):
        with pytest.raises(TypeError, match=r"^Scope: cannot be copied or pickled; lodcore.save"):
            copied(one)
