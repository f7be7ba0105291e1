"""TensorArray under any sequence of calls, compared with a dict of nested lists."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import lodcore
from lodcore import LoDTensor, TensorArray

ELEMENTS = st.one_of(
    st.lists(st.integers(-9, 9), max_size=3).map(lambda rows: np.array(rows, np.int64)),
    st.lists(st.lists(st.integers(-9, 9), max_size=2), max_size=3).map(
        lambda nested: lodcore.array(nested, np.int64, num_levels=1)
    ),
)
SLOTS = st.integers(0, 6)


class Slots(RuleBasedStateMachine):
    """The model: the content of each slot, as lists; the number of slots; whether it may grow."""

    @initialize(size=SLOTS, dynamic=st.booleans())
    def empty(self, size, dynamic):
        self.array = TensorArray(size, dynamic)
        self.begin({}, size, dynamic)

    @initialize(rows=st.lists(st.integers(-9, 9), max_size=5), dynamic=st.booleans(), spare=st.integers(0, 2))
    def unstacked(self, rows, dynamic, spare):
        self.array = TensorArray(len(rows) + spare, dynamic, unstack_from=np.array([rows, rows], np.int64).T)
        self.begin({t: [row, row] for t, row in enumerate(rows)}, len(rows) + spare, dynamic)

    @initialize(nested=st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=4), deep=st.booleans())
    def unpacked(self, nested, deep):
        nested = [nested] if deep else nested
        x = lodcore.array(nested, np.int64, num_levels=1 + deep)
        self.array, _ = TensorArray.unpack(x, 0, sort_by_length=False)
        longest = max(map(len, nested), default=0)
        steps = {t: [inner[t] for inner in nested if len(inner) > t] for t in range(longest)}
        self.begin(steps, longest, True, lists=set(steps) if deep else set())

    def begin(self, slots, size, dynamic, lists=()):
        self.slots, self.size, self.dynamic, self.limit = slots, size, dynamic, size
        self.lists = set(lists)  # the slots that hold sequences

    @rule(slot=SLOTS, element=ELEMENTS, shared=st.booleans())
    def write(self, slot, element, shared):
        if not self.dynamic and slot >= self.limit:
            with pytest.raises(IndexError, match=f"{slot}.*{self.limit}"):
                self.array.write(slot, element, shared)
            return
        self.array.write(slot, element, shared)
        self.slots[slot] = element.tolist()
        self.lists = self.lists - {slot} | ({slot} if isinstance(element, LoDTensor) else set())
        self.size = max(self.size, slot + 1)

    @rule(slot=SLOTS)
    def read(self, slot):
        if slot in self.slots:
            element = self.array.read(slot)
            assert element.tolist() == self.slots[slot]
            assert isinstance(element, LoDTensor) == (slot in self.lists)
        else:
            with pytest.raises(IndexError, match=f"{slot}.*{self.size}"):
                self.array.read(slot)

    @rule(slot=st.integers(-3, -1), element=ELEMENTS)
    def below_zero(self, slot, element):
        for call in (lambda: self.array.read(slot), lambda: self.array.write(slot, element)):
            with pytest.raises(IndexError, match=str(slot)):
                call()

    def holes(self):
        return [slot for slot in range(self.size) if slot not in self.slots]

    @precondition(lambda self: self.holes())
    @rule(name=st.sampled_from(["stack", "concat", "sizes"]))
    def nothing_reads_over_a_hole(self, name):
        with pytest.raises(IndexError, match=f"{self.holes()[0]}.*hole.*{self.size}"):
            getattr(self.array, name)()

    @precondition(lambda self: not self.holes())
    @rule()
    def sizes(self):
        assert self.array.sizes().tolist() == [len(self.slots[slot]) for slot in range(self.size)]

    @precondition(lambda self: self.size and not self.holes())
    @rule()
    def concat(self):
        if self.lists and len(self.lists) < self.size:
            with pytest.raises(lodcore.LoDError, match="element"):
                self.array.concat()
        else:
            joined = self.array.concat()
            assert joined.tolist() == [row for slot in range(self.size) for row in self.slots[slot]]
            assert isinstance(joined, LoDTensor) == bool(self.lists)

    @precondition(lambda self: self.size and not self.holes())
    @rule()
    def stack(self):
        if self.lists and len(self.lists) < self.size:
            with pytest.raises(lodcore.LoDError, match="element"):
                self.array.stack()
        elif not self.lists and len({len(rows) for rows in self.slots.values()}) > 1:
            with pytest.raises(lodcore.ShapeError, match="element"):
                self.array.stack()
        else:
            assert self.array.stack().tolist() == [self.slots[slot] for slot in range(self.size)]

    @invariant()
    def count(self):
        if hasattr(self, "array"):
            assert self.array.size() == len(self.array) == self.size
            holes = f", {len(self.holes())} of them holes" if self.holes() else ""
            text = f"{self.size} element{'s' * (self.size != 1)}{holes}" if self.size else "empty"
            assert repr(self.array) == f"TensorArray({text})"


def test_any_sequence_of_calls():
    run_state_machine_as_test(Slots, settings=settings(settings.default, stateful_step_count=20))
