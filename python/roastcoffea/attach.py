"""Listening to a coffea executor while it runs, without changing what it does.

coffea calls an executor as ``executor(items, function, accumulator)``, often on
a copy made from the executor's own class. For the time of a run the executor
object is therefore given a subclass of its class whose call also asks coffea
for its report, has each chunk recorded, notes when it ran, and takes out of the
result again what the user did not ask for.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

#: Turns coffea's work function into one that records chunks; told whether the
#: output is packed in the same thread right after.
Wrap = Callable[[Callable[..., Any], bool], Callable[..., Any]]

#: The key, beside coffea's own, of the mark that sees an output being packed.
MARK = "__roastcoffea_mark__"
#: The name that coffea gives to the executor that only reads file metadata.
PREPROCESS = "get_metadata"


@dataclass
class Session:
    """What was heard from the executors of one run."""

    #: Entered around every call, in the thread that makes the call.
    around_call: Callable[[], AbstractContextManager[Any]] = nullcontext
    #: Has chunks recorded; ``None`` where they are not.
    wrap: Wrap | None = None
    report: dict[str, Any] | None = None
    processor_names: list[str] = field(default_factory=list)
    phases: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    open: bool = True

    def note(self, sentence: str) -> None:
        """Keep a sentence for the user, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def call(
        self,
        executor: Any,
        original: Callable[..., Any],
        items: Any,
        function: Callable[..., Any],
        accumulator: Any,
    ) -> Any:
        """Run ``original`` as the user's code would, and listen."""
        name = executor.function_name
        if not self.open:
            return original(executor, items, function, accumulator)
        with self.around_call():
            if name == PREPROCESS:
                return self._timed("preprocess", executor, original, items, function, accumulator)
            function, wanted = _prepared(function, self._wrap_for(executor))
            if wanted is None:
                self.note(
                    "This version of coffea builds its work in a way that is not known here, "
                    "so its report could not be asked for: use Runner(savemetrics=True) and "
                    "set_coffea_report(report)."
                )
            if name is not None:
                if name not in self.processor_names:
                    self.processor_names.append(name)
                if hasattr(executor, "client") and executor.compression is None:
                    function = _named(function, name)
            result = self._timed("process", executor, original, items, function, accumulator)
            self._take_report(result, len(items), keep=wanted is not False)
            return result

    def _wrap_for(self, executor: Any) -> Callable[..., Callable[..., Any]] | None:
        if self.wrap is None:
            return None
        packs = (
            executor.compression is not None
            and not getattr(executor, "use_dataframes", False)
            and not _is_a(executor, "IterativeExecutor")
        )
        wrap = self.wrap
        return lambda work: wrap(work, packs)

    def _timed(
        self,
        phase: str,
        executor: Any,
        original: Callable[..., Any],
        items: Any,
        function: Callable[..., Any],
        accumulator: Any,
    ) -> Any:
        start_ns = time.time_ns()
        try:
            return original(executor, items, function, accumulator)
        finally:
            self.phases.append(
                {
                    "name": phase,
                    "start_ns": start_ns,
                    "stop_ns": time.time_ns(),
                    "items": len(items),
                }
            )

    def _take_report(self, result: Any, chunks: int, *, keep: bool) -> None:
        """Copy coffea's report out of a result; leave it there if the user asked for it."""
        # An executor that was given nothing returns the bare accumulator.
        output = result[0] if isinstance(result, tuple) and result else None
        if not isinstance(output, dict):
            return
        mark = output.pop(MARK, 0)
        if mark != 0:
            mark.send_unpacked()
        if not isinstance(output.get("metrics"), Mapping):
            return
        metrics = output["metrics"] if keep else output.pop("metrics")
        self.add_report({**metrics, "chunks": chunks})

    def add_report(self, report: Mapping[str, Any]) -> None:
        """Add the report of one more run to those before it."""
        merged = self.report or {}
        for key, value in report.items():
            if isinstance(value, (set, frozenset, list, tuple)):
                merged[key] = sorted(set(merged.get(key, ())) | set(value))
            elif key in merged and isinstance(value, (int, float)):
                merged[key] = merged[key] + value
            else:
                merged[key] = value
        self.report = merged


@contextmanager
def attached(executors: list[Any], session: Session) -> Iterator[Session]:
    """Listen to these executors for the time of a ``with`` block."""
    before = [(executor, type(executor)) for executor in executors]
    watched = []
    try:
        for executor, original in before:
            executor.__class__ = _watched(original, session)
            watched.append((executor, original, type(executor)))
        yield session
    finally:
        session.open = False
        for executor, original, subclass in reversed(watched):
            # Another collector that is still open keeps its own subclass.
            if type(executor) is subclass:
                executor.__class__ = original


def executors_of(target: Any) -> list[Any]:
    """Return the executors behind a Runner or an executor, each once."""
    candidates = (
        [target.executor, target.pre_executor] if hasattr(target, "pre_executor") else [target]
    )
    unique: list[Any] = []
    for candidate in candidates:
        if not any(candidate is known for known in unique):
            unique.append(candidate)
    return unique


def runs_here(executor: Any) -> bool:
    """Tell whether an executor runs its work on this machine, where roastcoffea is."""
    return _is_a(executor, "IterativeExecutor") or _is_a(executor, "FuturesExecutor")


def _is_a(executor: Any, name: str) -> bool:
    """Tell whether an executor is one of coffea's, which need not be imported for that."""
    return any(base.__name__ == name for base in type(executor).__mro__)


def _watched(original: type, session: Session) -> type:
    def call(self: Any, items: Any, function: Callable[..., Any], accumulator: Any) -> Any:
        return session.call(self, original.__call__, items, function, accumulator)

    return type(
        original.__name__,
        (original,),
        {"__call__": call, "__module__": original.__module__, "__doc__": original.__doc__},
    )


def _prepared(
    function: Callable[..., Any], wrap: Callable[..., Callable[..., Any]] | None
) -> tuple[Callable[..., Any], bool | None]:
    """Ask coffea's work function for its report, and have its calls recorded.

    Returns the function to run, and whether the user had asked for the report;
    ``None`` if this function is not coffea's.
    """
    if not isinstance(function, partial):
        return function, None
    work: Callable[..., Any]
    parameters = _parameters(function.func)
    if "savemetrics" in parameters:
        position = parameters.index("savemetrics")
        if position < len(function.args):
            asked = bool(function.args[position])
            args = (*function.args[:position], True, *function.args[position + 1 :])
            work = partial(function.func, *args, **function.keywords)
            return (work if wrap is None else wrap(work)), asked
        asked = bool(function.keywords.get("savemetrics", False))
        keywords = {**function.keywords, "savemetrics": True}
        work = partial(function.func, *function.args, **keywords)
        return (work if wrap is None else wrap(work)), asked
    for position, argument in enumerate(function.args):
        inner, asked_inside = _prepared(argument, wrap)
        if asked_inside is not None:
            args = (*function.args[:position], inner, *function.args[position + 1 :])
            return partial(function.func, *args, **function.keywords), asked_inside
    return function, None


def recorded_on_dask(topic: str) -> Wrap:
    """Have chunks recorded by Dask workers, as far as they have roastcoffea."""

    def wrap(work: Callable[..., Any], packs: bool) -> Callable[..., Any]:  # noqa: FBT001
        from roastcoffea.backends.by_value import work_by_value

        return work_by_value(work, topic=topic, packs=packs)

    return wrap


def recorded_here(place: Any) -> Wrap:
    """Have chunks recorded by the processes of this machine."""

    def wrap(work: Callable[..., Any], packs: bool) -> Callable[..., Any]:  # noqa: FBT001
        from roastcoffea.recording import RecordedWork

        return RecordedWork(work, place, packs=packs)

    return wrap


def _parameters(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        # A callable that does not tell its parameters has no switch either.
        return []


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Give work the processor's name, which Dask shows and groups by.

    Without compression coffea's chunks would share a name with its own
    preprocessing.
    """
    from roastcoffea.backends.by_value import work_by_value

    return work_by_value(function, name=name)
