"""Drawing operations on arrays and slots."""

from __future__ import annotations

from reference.graph import statements as p
from tests.helpers.drawing.names import INTEGER, NUMBER, ArrayInfo, Kind
from tests.helpers.drawing.values import Values


class Arrays(Values):
    """Draws operations on arrays."""

    def make(self, names):
        """Make an array, and often write to it at once."""
        name, kind = self.name("array"), self.one(["TensorArray", "VarArray"], [3, 2])
        size = self.one([None, None, None, 2, 3, *[n for n in ("n",) if n in names.values]])
        dynamic = size is None or self.maybe(0.6)
        names.arrays[name] = self.infos[name] = ArrayInfo(kind)
        first = self.write_to(names, name) if self.maybe(0.5) else []
        return [p.Make(name, kind, size, dynamic), *(first or [])]

    def write(self, names):
        found = list(names.arrays)
        return self.write_to(names, self.recent(found)) if found else self.make(names)

    def write_to(self, names, name):
        """Write an element to an array that accepts it."""
        info = names.arrays[name]
        if info.element is None:
            value = self.value(names, lambda kind: True)
            if names.integers() and self.maybe(0.12):
                value = self.recent(names.integers())
            kind = self.kind_of(names, value)
            info.free = isinstance(kind.shape[0] if kind.shape else 0, str) and (names.depth > 0 or self.maybe(0.3))
            info.element = self.fresh(kind) if info.free else kind
        else:
            fits = (lambda kind: kind.like(info.element)) if info.free else (lambda kind: kind == info.element)
            value = self.value(names, fits)
            if value is None:
                return None
        before, at = self.index(names) if info.grows else ([], 0)
        how = ["write", "write", "write", "[]", "copy", "operator"] + ["update", "slot"] * (
            2 * (info.kind == "VarArray")
        )
        self.touch(names, name)
        return [*before, p.Write(name, at, value, self.one(how))]

    def touch(self, names, name):
        """Discard the slots of an array, which has been written in another way."""
        names.slots = {slot: held for slot, held in names.slots.items() if held[0] != name}

    def read(self, names):
        found = [name for name, info in names.arrays.items() if info.element is not None]
        if not found:
            return self.unstack(names)
        name = self.recent(found)
        info = names.arrays[name]
        before, at = self.index(names)
        kind = self.fresh(info.element) if info.free else info.element
        default, how = None, self.one(["read", "read", "[]", "operator"])
        if self.maybe(0.3):
            default = self.value(names, lambda other: other.like(kind) if info.free else other == kind)
            if kind == NUMBER and self.maybe(0.4):
                default = 0.5
            how = how if default is None else self.one(["default", "keyword"])
        target = self.name("a")
        names.values[target] = kind
        return [*before, p.Read(target, name, at, default, how)]

    def slot(self, names):
        """Name a slot of a VarArray, and sometimes write through it."""
        found = [name for name, info in names.arrays.items() if info.kind == "VarArray" and info.element is not None]
        if not found:
            return None
        name = self.recent(found)
        info, target = names.arrays[name], self.name("slot")
        before, at = self.index(names)
        kind = self.fresh(info.element) if info.free else info.element
        boot = None
        if self.maybe(0.5):
            boot = self.value(names, lambda other: other.like(kind) if info.free else other == kind)
            boot = 0.5 if kind == NUMBER and self.maybe(0.5) else boot
        made = [*before, p.Get(target, name, at, boot)]
        fits = (lambda other: other.like(kind)) if info.free else (lambda other: other == kind)
        value = self.value(names, fits) if info.grows and self.maybe(0.4) else None
        if value is not None:
            self.touch(names, name)
            made.append(p.Put(target, value))
        names.slots[target] = (name, kind)
        return made

    def question(self, names):
        found = list(names.arrays)
        return self.ask(names, self.recent(found)) if found else None

    def ask(self, names, name):
        """Compute the size of an array, its stacked or concatenated elements, or the sequences of its steps."""
        info = names.arrays[name]
        target = self.name("a")
        if info.element is None or self.maybe(0.25):
            names.values[target] = INTEGER
            return [p.Ask(target, "size", name)]
        kind = info.element
        if kind.shape and self.maybe(0.1):
            names.values[target] = Kind("int64", 0, (self.length(),))
            return [p.Ask(target, "sizes", name)]
        if not info.free and kind.shape and not kind.levels and self.maybe(0.25):
            if len(kind.shape) == 1 or self.maybe(0.3):
                names.values[target] = kind._replace(shape=(kind.shape[0], self.length(), *kind.shape[1:]))
                return [p.Ask(target, "stack", name, (1,))]
            names.values[target] = kind._replace(shape=(kind.shape[0], self.length()))
            return [p.Ask(target, "concat", name, (1,))]
        if kind.shape and (kind.levels or len(kind.shape) == 2) and (info.free or self.maybe(0.4)):
            names.values[target] = self.fresh(kind)
            return [p.Ask(target, "concat", name)]
        if kind.levels:
            names.values[target] = Kind("float64", kind.levels + 1, (self.length(), *kind.shape[1:]))
            return [p.Ask(target, "stack", name)]
        if info.free:
            return None
        names.values[target] = kind._replace(shape=(self.length(), *kind.shape))
        return [p.Ask(target, "stack", name)]

    def unstack(self, names):
        """Make an array from a tensor, or convert its sequences to steps."""
        x = self.value(names, lambda kind: kind.levels > 0 or (len(kind.shape) > 0 and isinstance(kind.shape[0], str)))
        if x is None or x in names.slots:
            return None
        kind, name = names.values[x], self.name("array")
        how = self.one(["unstack", "unstack_from", "instance", "operator", "segment"])
        info = ArrayInfo("VarArray" if how == "segment" else "TensorArray", grows=True)
        if kind.levels and (how == "segment" or self.maybe(0.5)):
            level = int(self.random.integers(kind.levels))
            how = self.one(["unpack", "instance", "operator", "segment"], [3, 1, 1, 1])
            info = ArrayInfo("VarArray" if how == "segment" else "TensorArray", grows=False, rank=self.name("map"))
            info.element, info.free = Kind("float64", kind.levels - level - 1, (self.length(), *kind.shape[1:])), True
            names.arrays[name] = info
            return [p.Unpack(name, info.rank, x, level, self.maybe(0.6), how)]
        if kind.levels:
            info.element, info.free = Kind("float64", kind.levels - 1, (self.length(), *kind.shape[1:])), True
        else:
            info.element = kind._replace(shape=kind.shape[1:])
        names.arrays[name] = info
        return [p.Unstack(name, x, how)]
