"""The workbench under load: `python -m bench.studio`.

Fifty people plan at once, then twenty releases are asked for; each is compared with the same work done alone.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import veil
from tests.studio.conftest import serving
from tests.studio.visitor import Visitor
from veil.samples.examples import write_examples
from veil.studio.workspace import Workspace

PEOPLE, LOOKS, RELEASES = 50, 20, 20


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _look(visitor: Visitor, path: str) -> None:
    page = visitor.get(path)
    if page.status != 200:
        raise SystemExit(f"{path}: {page.status}")


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "studio"
        write_examples(folder / "demo")
        begun = time.perf_counter()
        with serving(Workspace.opened(folder)) as workbench:
            first = workbench.visitor()
            print(f"first page: {time.perf_counter() - begun:.2f} s after the start")
            draft = first.start("Grades of a course")
            path = f"/draft/{draft}/plan"
            planned = _timed(lambda: _planned(first, path))
            print(f"a new plan with its curve: {planned:.1f} s, beside the pages")
            live = f"{path}/live?at=0.3"
            alone = [_timed(lambda: _look(first, live)) for _ in range(LOOKS)]
            print(f"the slider: an answer in {1e3 * statistics.median(alone):.0f} ms, alone")
            people = [workbench.visitor() for _ in range(16)]
            answers: list[float] = []

            def plans(visitor: Visitor) -> None:
                for _ in range(LOOKS):
                    answers.append(_timed(lambda: _look(visitor, live)))
                    answers.append(_timed(lambda: _look(visitor, path)))

            # A gate keeps sixteen sessions; several people share one.
            crowd = [threading.Thread(target=plans, args=(people[n % 16],)) for n in range(PEOPLE)]
            whole = _timed(lambda: _run(crowd))
            print(
                f"{PEOPLE} people, {len(answers):,} answers in {whole:.1f} s: median "
                f"{1e3 * statistics.median(answers):.0f} ms, slowest {1e3 * max(answers):.0f} ms "
                f"(alone: {1e3 * statistics.median(alone):.0f} ms)"
            )
            visitor = workbench.visitor()
            visitor.open_budget("people", "2")
            visitor.fill_in(draft, "people", release__epsilon="0.1")
            asked = [visitor.release(draft) for _ in range(RELEASES)]
            took = _timed(lambda: [visitor.wait(release) for release in asked])
            spent = veil.Ledger(workbench.workspace.ledger).dataset("people").spent.epsilon
            print(f"{RELEASES} releases in the queue: {took:.1f} s, spent {spent} of 2")


def _run(crowd: list[threading.Thread]) -> None:
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()


def _planned(visitor: Visitor, path: str) -> None:
    while 'hx-trigger="load' in visitor.get(f"{path}/live").text:
        pass


if __name__ == "__main__":
    main()
