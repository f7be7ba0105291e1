"""Scopes: Variables by name, with lookup of missing names in a parent; records of runs, and values of parameters."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from lodcore.base.contexts import AWAITED, held, put_in_place
from lodcore.errors import DTypeError, GraphError
from lodcore.graph.loops.array_versions import of_user
from lodcore.graph.variable import Variable
from lodcore.kernels.loading import hold_at_fork
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["PLACING", "Record", "Scope"]

SHOWN = 8  # the number of inner Scopes that are drawn
LOOKING = threading.RLock()  # held while the names of a record are made
PLACING = threading.RLock()  # held while values of several parameters are read, or put into place
for _lock in (LOOKING, PLACING):  # a child has none of the threads that would release them
    hold_at_fork(_lock)


class OwnLock:
    """A lock of a Scope; a child process without the thread that holds it has a new one.

    Attributes
    ----------
    owner : int or None
        The thread that holds it, once that is noted here.
    """

    def __init__(self) -> None:
        self.renew()
        LOCKS.add(self)

    def renew(self) -> None:
        """Take a new lock, which nobody holds."""
        lock = threading.RLock()
        self.acquire, self.release = lock.acquire, lock.release
        self.owner: int | None = None


LOCKS: weakref.WeakSet[OwnLock] = weakref.WeakSet()


def _renew_locks() -> None:
    """Renew, in a child process, the locks that threads of its parent hold, which wait no longer."""
    for thread in [*AWAITED]:
        if thread != threading.get_ident():
            del AWAITED[thread]
    for lock in list(LOCKS):
        if lock.acquire(blocking=False):  # free, or held by the thread that is the child
            lock.release()
        else:
            lock.renew()


os.register_at_fork(after_in_child=_renew_locks)


class Scope:
    """A chain of names: names that are missing here are looked up in the parent.

    The Scope of an Executor has the values of parameters that Programs updated, for all its runs, and the record of the
    last run: the names of the Program, in `kids` the Scopes of its loops, and in theirs those of the steps.

    Parameters
    ----------
    parent : Scope, optional

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore.graph import Scope
    >>> scope = Scope()
    >>> scope.var("weights").set(np.ones(2))
    >>> step = scope.new_scope()
    >>> step.find_var("weights").get()
    array([1., 1.])
    >>> step.find_var("nothing") is None
    True
    >>> print(scope)
    Scope: weights
        Scope:
    """

    __module__ = "lodcore"

    def __init__(self, parent: Scope | None = None) -> None:
        self._parent = parent
        self._kids: list[Scope] = []
        self._variables: dict[str, Variable] = {}
        self._lasting: dict[Variable, Variable] = {}  # for each parameter, the Variable that has its value here
        self._run: Record | None = None  # the record of the last run

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{type(self).__name__}: cannot be copied or pickled; lodcore.save(file, program, scope) stores "
            "the values of the parameters of a Program"
        )

    @property
    def updating(self) -> OwnLock:
        """The lock held by a run that updates parameters here; made for the first such run."""
        found: OwnLock | None = self.__dict__.get("_updating")
        return self.__dict__.setdefault("_updating", OwnLock()) if found is None else found

    @property
    def parent(self) -> Scope | None:
        """The Scope around it."""
        return self._parent

    @property
    def kids(self) -> tuple[Scope, ...]:
        """The Scopes inside it; that of the last run of an Executor is the last."""
        return (*self._kids, self._run) if self._run is not None else tuple(self._kids)

    def new_scope(self) -> Scope:
        """Make a Scope inside this one."""
        made = Scope(self)
        self._kids.append(made)
        return made

    def drop_kids(self) -> None:
        """Remove the Scopes inside."""
        self._kids.clear()
        self._run = None

    # -- names ---------------------------------------------------------------------------------------------------------

    def _here(self) -> dict[str, Variable]:
        """Return the Variables in this Scope itself, by name."""
        if self._run is None and not self._lasting:
            return self._variables
        run = {} if self._run is None else self._run.by_name(self._lasting)
        return {**{str(holder.name): holder for holder in self._lasting.values()}, **run, **self._variables}

    def var(self, name: str) -> Variable:
        """Return the Variable of a name in this Scope itself, creating it if it does not exist."""
        found = self._here().get(_checked(name))
        if found is None:
            found = self._variables[name] = Variable(name)
        return found

    def find_var(self, name: str) -> Variable | None:
        """Return the Variable of a name in this Scope or an outer one; None if there is none."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._here().get(_checked(name))
            if found is not None:
                return found
            scope = scope._parent
        return None

    def erase(self, name: str) -> None:
        """Remove a name from this Scope itself; raise KeyError if it does not exist.

        A parameter has its initial value again, even if a run of another thread is about to update it.
        """
        found = self._here()[_checked(name)]
        if name in self._variables:
            del self._variables[name]
            return
        with held(PLACING):
            known = [v for v, holder in self._lasting.items() if holder is found]
            if not known:
                raise GraphError(f"Scope.erase: {name}: is in the record of a run, which cannot be changed")
            del self._lasting[known[0]]

    def local_var_names(self) -> list[str]:
        """Return the names in this Scope itself."""
        return list(self._here())

    def __contains__(self, name: str) -> bool:
        return self.find_var(name) is not None

    # -- parameters ----------------------------------------------------------------------------------------------------

    def get(self, parameter: Variable) -> Any:
        """Return the value that a run reads for a parameter: the last update here or in an outer Scope.

        Parameters
        ----------
        parameter : Variable

        Returns
        -------
        tensor
            Its initial value, if no run updated it. It is not a copy: later runs read what is written into it.
        """
        _check_variable("get", parameter)
        scope: Scope | None = self
        while scope is not None and (scope._lasting or scope._parent is not None):
            holder = scope._lasting.get(parameter)
            if holder is not None:
                return holder.get()
            scope = scope._parent
        return parameter.get()

    def set(self, parameter: Variable, value: Any) -> None:
        """Set the value that runs read for a parameter in this Scope.

        Parameters
        ----------
        parameter : Variable
        value : tensor
            It is not copied: later runs read what is written into it.

        Notes
        -----
        A run of another thread that began earlier keeps the values that it has read, and leaves this one alone.
        """
        _check_variable("set", parameter)
        with held(PLACING):
            holder = self._lasting.get(parameter)
            if holder is None:
                holder = Variable(str(parameter.name))
            holder.set(value)
            self._lasting[parameter] = holder

    def snapshot(self) -> Scope:
        """Return a Scope of its own with the values of parameters here and in outer Scopes, between two updates."""
        made, scopes, scope = Scope(), list[Scope](), self  # type: Scope, list[Scope], Scope | None
        with held(PLACING):
            while scope is not None:
                scopes.append(scope)
                scope = scope._parent
            for one in reversed(scopes):
                made._lasting.update(
                    {x: Variable(str(holder.name), holder.get()) for x, holder in one._lasting.items()}
                )
        return made

    def places(self, parameters: Iterable[Variable]) -> dict[Variable, Any]:
        """Return what this Scope itself has for several parameters, to be compared at the end of a run."""
        return {x: self._place(x) for x in parameters}

    def _place(self, parameter: Variable) -> Any:
        holder = self._lasting.get(parameter)
        return None if holder is None else holder.held

    # -- records -------------------------------------------------------------------------------------------------------

    def begin_run(self) -> None:
        """Drop the record of the last run."""
        self._run = None

    def end_run(self, record: Record, updates: dict[Variable, tuple[str, Any]], places: dict[Variable, Any]) -> None:
        """Keep the record of a run, and the new values of parameters, all of them in one step.

        Parameters
        ----------
        record : Record
        updates : dict
            For each parameter, its name in the Program, and its new value.
        places : dict
            From `places`, when the run began; a parameter that has changed since was set or erased, and is left alone.
        """
        if updates:
            with held(PLACING):
                some = {x: update for x, update in updates.items() if self._place(x) is places[x]}
                for x, (name, _) in some.items():
                    if x not in self._lasting:
                        holder = Variable(name)
                        holder.set(self.get(x))  # so that nothing changes before all do
                        self._lasting[x] = holder
                holders = [self._lasting[x] for x in some]
                values = [holder.settable(value) for holder, (_, value) in zip(holders, some.values(), strict=True)]
                put_in_place([], [], [], [], holders, values)
        self._run = record

    # -- text ----------------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What the Scope belongs to, for texts."""
        return "Scope"

    def __repr__(self) -> str:
        count = len(self.kids)
        kids = f"; {count} kid{'s' * (count != 1)}" if count else ""
        return f"{type(self).__name__}({', '.join(self._here())}{kids})"

    def __str__(self) -> str:
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> list[str]:
        names = ", ".join(self._here())
        lines = [f"{indent}{self.title}:{' ' * bool(names)}{names}"]
        kids = self.kids
        for kid in kids[:SHOWN]:
            lines += kid._lines(indent + "    ")
        return lines + [f"{indent}    ... {len(kids) - SHOWN} more"] * (len(kids) > SHOWN)


class Record(Scope):
    """The Scope of a part of a run: a Program, a loop or a step of one, which cannot be changed.

    Its names and the Scopes inside are made when they are first looked at.

    Parameters
    ----------
    parent : Scope or None
    title : str
    look : callable
        Returns the values by name and Variable, and a function of this Scope that returns the Scopes inside.
    """

    def __init__(self, parent: Scope | None, title: str, look: Callable[[], Look]) -> None:
        super().__init__(parent)
        self._title = title
        self._look: Callable[[], Look] | None = look
        self._of: dict[Variable, Variable] = {}
        self.kept: list[Any] = []  # the traces of the loops inside, which live as long as this

    @property
    def title(self) -> str:
        """What the Scope belongs to, for texts."""
        return self._title

    def _looked(self) -> None:
        """Make the Variables and the Scopes inside, once."""
        with held(LOOKING):
            if self._look is None:
                return
            named, inside = self._look()
            self._of = {v: _recorded(name, value) for name, (v, value) in named.items()}
            self._variables = {str(one.name): one for one in self._of.values()}
            self._kids = list(inside(self))
            self._look = None

    def _here(self) -> dict[str, Variable]:
        self._looked()
        return self._variables

    def by_name(self, lasting: dict[Variable, Variable]) -> dict[str, Variable]:
        """Return the Variables by name; for parameters with a lasting value, the Variables that hold it."""
        self._looked()
        return {str(one.name): lasting.get(v, one) for v, one in self._of.items()}

    def within(self, parent: Scope) -> Record:
        """Return the Scope itself, now inside another one if it was not before."""
        if self._parent is None:
            self._parent = parent
        return self

    @property
    def kids(self) -> tuple[Scope, ...]:
        """The Scopes inside it."""
        self._looked()
        return tuple(self._kids)

    def _refuse(self, what: str) -> GraphError:
        return GraphError(f"Scope.{what}: is the record of a run ({self._title}), which cannot be changed")

    def new_scope(self) -> Scope:
        """Raise GraphError, since records do not change."""
        raise self._refuse("new_scope")

    def drop_kids(self) -> None:
        """Raise GraphError, since records do not change."""
        raise self._refuse("drop_kids")

    def erase(self, name: str) -> None:
        """Raise GraphError, since records do not change."""
        raise self._refuse("erase")

    def set(self, parameter: Variable, value: Any) -> None:
        """Raise GraphError, since records do not change."""
        raise self._refuse("set")

    def var(self, name: str) -> Variable:
        """Return the Variable of a name in this Scope itself; raise GraphError if it does not exist."""
        found = self._here().get(_checked(name))
        if found is None:
            raise self._refuse(f"var: {name}")
        return found


#: Values by name, with the Variables of a Block that have them, and what makes the Scopes inside.
Look = tuple[dict[str, tuple[Variable, Any]], Callable[[Record], Iterable[Record]]]


class RecordedValue(Variable):
    """A value in the record of a run, which cannot be set."""

    __slots__ = ()

    def _check_holds(self, called: str) -> None:
        raise GraphError(f"{called}: Variable {self.name}: is in the record of a run, which cannot be changed")


class LostValue(RecordedValue):
    """A value in the record of a run that can no longer be computed; asking for it raises an error."""

    __slots__ = ("error",)

    error: GraphError

    def get(self) -> Any:
        """Raise the error."""
        raise self.error


def _recorded(name: str, value: Any) -> RecordedValue:
    """Return the Variable of a value, or of the error for one that is lost."""
    if not isinstance(value, GraphError):
        return RecordedValue(name, _shown(value))
    made = LostValue(name)
    made.error = value
    return made


def _shown(value: Any) -> Any:
    """Return a value for a record: a copy of an array of tensors, a read-only view of rows."""
    if type(value) is np.ndarray:
        value = value.view()
        value.flags.writeable = False
    elif type(value) is LoDTensor:
        value = LoDTensor(value.values, value.lod)
    return of_user(value)


def _check_variable(method: str, parameter: Any) -> None:
    if not isinstance(parameter, Variable):
        raise DTypeError(f"Scope.{method}: parameter: is {type(parameter).__name__}; a Variable is needed")


def _checked(name: Any) -> str:
    if not isinstance(name, str):
        raise DTypeError(f"Scope: name: is {type(name).__name__}; a str is needed")
    return name
