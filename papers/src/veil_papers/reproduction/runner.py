"""Run the exhibits, one file each: what is there already, from the same Veil and the same data, is kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from veil.core.writing import write_text
from veil.version import __version__
from veil_papers.reproduction.exhibit import Exhibit, Paper, Run
from veil_papers.reproduction.finding import Finding

# Changes where what is computed or stored does: older results are then computed again.
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Shown:
    """An exhibit with what came of it. seconds: what it took, when it was computed."""

    paper: Paper
    exhibit: Exhibit
    finding: Finding
    seconds: float
    kept: bool = False

    @property
    def slug(self) -> str:
        return self.paper.slug(self.exhibit)


def run_all(
    papers: Sequence[Paper],
    run: Run,
    folder: Path,
    *,
    begun: Callable[[str], None] = lambda name: None,
    fresh: bool = False,
) -> Iterator[Shown]:
    """Every exhibit of the papers, in their order. What is done is on the disk before the next begins.

    begun: called with the name of each exhibit. fresh: compute everything again, keep no earlier result.
    """
    results = folder / "results"
    results.mkdir(parents=True, exist_ok=True)
    for paper in papers:
        for exhibit in paper.exhibits:
            name = paper.cite(exhibit)
            begun(name)
            path = results / f"{paper.slug(exhibit)}.json"
            key = _key(exhibit, run)
            known = None if fresh else _read(path, key)
            if known is not None:
                yield Shown(paper, exhibit, known[0], known[1], kept=True)
                continue
            start = time.perf_counter()

            def tell(step: str, name: str = name) -> None:
                run.tell(f"{name}: {step}")

            finding = exhibit.run(replace(run, tell=tell))
            seconds = time.perf_counter() - start
            content: dict[str, Any] = {"key": key, "seconds": round(seconds, 2), "finding": finding.to_dict()}
            write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n", overwrite=True)
            # As it will be read again: a page is the same whether it was resumed or not.
            yield Shown(paper, exhibit, Finding.from_dict(content["finding"]), seconds)


def _key(exhibit: Exhibit, run: Run) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "veil": __version__,
        "quick": run.quick,
        "data": run.data.state(tuple(exhibit.needs)),
    }


def _read(path: Path, key: dict[str, Any]) -> tuple[Finding, float] | None:
    """What an earlier run left, if it is of the same kind; whatever cannot be read is computed again."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["key"] != key:
            return None
        return Finding.from_dict(content["finding"]), float(content["seconds"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
