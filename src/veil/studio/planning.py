"""What to expect of a release, from public numbers alone: computed once for each question."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from veil.core.errors import InvalidArgument, VeilError
from veil.core.kind import Kind, kind_named
from veil.core.plan import Plan, epsilons_around
from veil.core.request import PlanRequest
from veil.report.views import Look
from veil.report.views.view import FEW, LISTED
from veil.studio.forms import filled, label_of, labels_of, sentence

# Plans that are remembered, and those of them that the process beside us remembers as a whole.
_MOST, _MOST_WHOLE = 2000, 64
_STOPPED = "The process that computes plans was stopped, perhaps for want of memory. Ask again, or for less."
Texts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Expected:
    """What to expect at one epsilon.

    text: the plan as `veil plan` prints it. measure: of which error `error` is, and `nothing` that of an
    answer without data. baselines: sentences about all errors. trouble: why there is no plan.
    """

    epsilon: float
    text: str = ""
    measure: str = ""
    error: float = 0.0
    nothing: float = 0.0
    baselines: tuple[str, ...] = ()
    useless: bool = False
    trouble: str = ""


@dataclass(frozen=True)
class Sketch:
    """Made-up data and a release of it, as drawings. released: empty where it tells too little to draw it."""

    epsilon: float
    title: str
    made_up: str
    released: str


@dataclass(frozen=True)
class Forecast:
    """What to expect at the epsilon that was asked for, and at others around it.

    others: as far as they are known, in the order of their epsilons; complete: whether all are. picture:
    every mechanism against epsilon, as SVG; empty where the kind has none. sketch: a preview on made-up data.
    is_drawn: whether both are known, or known to be missing.
    """

    expected: Expected
    others: tuple[Expected, ...] = ()
    complete: bool = False
    picture: str = ""
    sketch: Sketch | None = None
    is_drawn: bool = False

    @property
    def points(self) -> list[tuple[float, float]]:
        """The curve of the error, as far as it is known."""
        return [(one.epsilon, one.error) for one in self.others if one.measure]


def _request(kind_name: str, texts: Texts, epsilon: float, delta: float) -> PlanRequest:
    (planning,) = kind_named(kind_name).requests("plan")
    budget = {"epsilon": epsilon, "delta": delta}
    known = {name: value for name, value in budget.items() if name in planning.options()}
    request: PlanRequest = filled(planning, "plan", dict(texts), **known)
    request.check()
    return request


@lru_cache(maxsize=_MOST_WHOLE)
def _plan(kind_name: str, texts: Texts, epsilon: float, delta: float) -> Plan:
    made: Plan = _request(kind_name, texts, epsilon, delta).plan()
    return made


@lru_cache(maxsize=_MOST_WHOLE)
def _quick_plan(kind_name: str, texts: Texts, epsilon: float, delta: float) -> Plan:
    made: Plan = _request(kind_name, texts, epsilon, delta).quick_plan()
    return made


def around_at(kind_name: str, texts: Texts, epsilon: float, delta: float) -> Expected:
    """The same as a point of a curve."""
    return expected_at(kind_name, texts, epsilon, delta, plan_at=_quick_plan)


def expected_at(
    kind_name: str, texts: Texts, epsilon: float, delta: float, *, plan_at: Callable[..., Plan] = _plan
) -> Expected:
    """What to expect at one epsilon."""
    try:
        plan = plan_at(kind_name, texts, epsilon, delta)
        lines = plan.baselines
        return Expected(
            epsilon,
            text=str(plan),
            measure=lines[0].measure if lines else "",
            error=lines[0].expected if lines else 0.0,
            nothing=lines[0].nothing if lines else 0.0,
            baselines=tuple(line.words for line in lines),
            useless=any(line.useless for line in lines),
        )
    except VeilError as error:
        kind = kind_named(kind_name)
        names = labels_of((*kind.requests("release"), *kind.requests("plan")))
        where = getattr(error, "field", "")
        return Expected(epsilon, trouble=f"{label_of(where) + ': ' if where else ''}{sentence(error, names)}")
    except Exception as error:
        return Expected(epsilon, trouble=f"An internal error ({type(error).__name__}). Please report it.")


def picture_around(kind_name: str, texts: Texts, epsilon: float, delta: float) -> str:
    """Every mechanism against epsilon, where the kind can draw that."""
    kind = kind_named(kind_name)
    if type(kind).plot_plans is Kind.plot_plans:
        return ""
    from veil.report.figures import svg

    try:
        plans = [_quick_plan(kind_name, texts, at, delta) for at in epsilons_around(epsilon)]
        return svg(kind.plot_plans(plans, epsilon))
    except Exception:
        # The plan is there without its picture.
        return ""


def preview_at(kind_name: str, texts: Texts, epsilon: float, delta: float) -> Sketch | None:
    """A release of made-up data at one epsilon, beside that data; None where there is no such preview."""
    try:
        plan = _plan(kind_name, texts, epsilon, delta)
        preview = _request(kind_name, texts, epsilon, delta).preview(plan)
        if preview is None:
            return None
        view = preview.view_of(preview.draw())
    except Exception:
        # The plan is there without its preview.
        return None
    # In the same order on both sides.
    look = Look(order=LISTED, most=FEW)
    return Sketch(
        epsilon, preview.made_up.title, preview.made_up.draw(look), "" if view is None else view.draw(look)
    )


def _settle(folder: str) -> None:
    """The process that computes works in a folder, and ends with the one that asks, be that killed."""
    os.chdir(folder)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


@dataclass
class Plans:
    """Forecasts that were asked for: those that are ready, and those that are being computed.

    They are computed in another process, so that pages stay quick whatever is being planned. folder: in which
    that works, from where the names of files count.
    """

    folder: Path = Path()
    _found: dict[Any, Future[Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pool: ProcessPoolExecutor | None = None

    def ask(self, kind_name: str, texts: Mapping[str, str], epsilon: float, delta: float) -> Forecast | None:
        """What is known by now; None before anything is. The epsilon that was asked for comes first."""
        question = (kind_name, tuple(sorted(texts.items())))
        with self._lock:
            middle = self._future(expected_at, (*question, epsilon, delta))
            if not middle.done():
                return None
            if self._forget_lost():
                return Forecast(Expected(epsilon, trouble=_STOPPED), complete=True, is_drawn=True)
            expected: Expected = middle.result()
            if expected.trouble:
                return Forecast(expected, complete=True, is_drawn=True)
            sketched = self._future(preview_at, (*question, epsilon, delta))
            around = [
                middle if at == epsilon else self._future(around_at, (*question, at, delta))
                for at in epsilons_around(epsilon)
            ]
            drawn = self._future(picture_around, (*question, epsilon, delta))
        return Forecast(
            expected,
            others=tuple(one.result() for one in around if one.done()),
            complete=all(one.done() for one in around),
            is_drawn=drawn.done() and sketched.done(),
            picture=drawn.result() if drawn.done() else "",
            sketch=sketched.result() if sketched.done() else None,
        )

    def _forget_lost(self) -> bool:
        """Whether the process was killed over what it computed; then all of that can be asked for again."""
        lost = [key for key, found in self._found.items() if found.done() and found.exception() is not None]
        for key in lost:
            del self._found[key]
        return bool(lost)

    def _future(self, work: Callable[..., Any], question: tuple[Any, ...]) -> Future[Any]:
        key = (work.__name__, *question)
        found = self._found.get(key)
        if found is None:
            while len(self._found) >= _MOST:
                self._found.pop(next(iter(self._found))).cancel()
            found = self._found[key] = self._submitted(work, question)
        return found

    def _submitted(self, work: Callable[..., Any], question: tuple[Any, ...]) -> Future[Any]:
        for _ in range(2):
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, get_context("spawn"), _settle, (str(self.folder),))
            try:
                return self._pool.submit(work, *question)
            except BrokenProcessPool:
                # Its process was killed, as for want of memory: a new one takes over.
                self._pool = None
        raise InvalidArgument("plan", expected="a process that computes it", found="none")

    def close(self) -> None:
        """Stop computing."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
