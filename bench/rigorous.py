"""Printed deltas against certified ones, for random and adversarial parameters from 1e-30 to 1e30.

`python -m bench.rigorous` draws 100,000 sets of parameters from all families of pairs, and compares what Veil
prints with an enclosure by ball arithmetic (python-flint): how many are below the truth, which must be none,
how many the enclosure does not resolve, and how far above the truth the others are. Half an hour of one core.
With --state FILE the finished chunks are kept there, and the same command goes on after them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from tests.core.rigorous_cases import cases
from tests.core.rigorous_study import Study

CHUNK = 500
SEED = 20_260
# Seconds between two lines of progress.
_PAUSE = 20.0


def compared(chunk: int, *, seed: int, sets: int) -> Study:
    """The study of one chunk; the last one may be smaller."""
    return Study().look_at(cases((seed, chunk), min(CHUNK, sets - chunk * CHUNK)))


def finished(state: Path | None, *, seed: int, sets: int) -> dict[int, Study]:
    """The chunks that an earlier run has kept."""
    if state is None or not state.exists():
        return {}
    lines = [json.loads(line) for line in state.read_text(encoding="utf-8").splitlines()]
    asked = [line for line in lines if (line["seed"], line["sets"]) == (seed, sets)]
    return {line["chunk"]: Study.from_json(line["study"]) for line in asked}


def table(study: Study) -> Iterator[str]:
    """The summary, line by line."""
    columns = ("sets", "below", "unresolved", "wide", "loose")
    yield f"{'family':<22}" + "".join(f"{name:>12}" for name in columns) + f"{'excess':>12}"
    for family, tally in [*sorted(study.tallies.items()), ("all", study.total)]:
        numbers = "".join(f"{getattr(tally, name):>12,}" for name in columns)
        yield f"{family:<22}{numbers}{tally.excess:>12.1e}"
    yield "below: printed below the truth; unresolved: the enclosure is too wide to tell"
    yield "wide: certainly not below, how far above is not known; loose: more than 1e-9 above"
    yield "excess: the largest one, relative to the truth, with parameters up to 1e12"
    for family, tally in sorted(study.tallies.items()):
        yield f"  {family}: {tally.loosest}"


def run(sets: int = 100_000, seed: int = SEED, processes: int = 2, state: Path | None = None) -> Study:
    """Compare so many sets and print what was found."""
    chunks = range(-(-sets // CHUNK))
    known = finished(state, seed=seed, sets=sets)
    study, start, said = Study(), time.perf_counter(), 0.0
    for found in known.values():
        study.add(found)
    left = [chunk for chunk in chunks if chunk not in known]
    with ProcessPoolExecutor(processes) as pool:
        found_in = pool.map(partial(compared, seed=seed, sets=sets), left)
        for chunk, found in zip(left, found_in, strict=True):
            study.add(found)
            if state is not None:
                line = {"seed": seed, "sets": sets, "chunk": chunk, "study": asdict(found)}
                with state.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
            for text in found.below:
                print(f"BELOW {text}", flush=True)
            took, total = time.perf_counter() - start, study.total
            if took - said > _PAUSE or total.sets == sets:
                said = took
                print(
                    f"{total.sets:,} of {sets:,} sets, {total.below} below, {total.unresolved} unresolved, "
                    f"{took:.0f} s",
                    flush=True,
                )
    print(*table(study), sep="\n")
    for text in study.unresolved:
        print(f"unresolved: {text}")
    return study


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Printed deltas against certified ones.")
    parser.add_argument("--sets", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--state", type=Path, default=None, help="finished chunks are kept here")
    sys.exit(1 if run(**vars(parser.parse_args())).below else 0)


if __name__ == "__main__":
    main()
