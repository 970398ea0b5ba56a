"""How often audits raise a false alarm: `veil audit --all` again and again with fresh, secret seeds.

Outside the tests, since a hundred repetitions take long: `python -m bench.audit_repetitions`. It uses all
cores, and adds up the chance of any alarm: each suite has 1e-9 unless another confidence is given, and by
Bonferroni's inequality so many suites have that many times as much. Shorter, without the mechanisms whose
suite takes longer than two seconds: `python -m bench.audit_repetitions --seconds 2`.

`--log FILE` writes a line for every repetition that is done, alarms included. A run that was stopped goes on
where it ended: the repetitions of the file count, if they were made with as many samples at this confidence.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import veil
from veil.core.audit.auditing import CONFIDENCE
from veil.core.audit.suite import audit_examples

# What all repetitions together may come to.
MOST = 1e-3


@dataclass(frozen=True)
class Outcome:
    """What became of one suite: the number of its example, the alarm if any, pairs, and seconds of work."""

    example: int
    alarm: str
    pairs: int
    seconds: float


def audited(example: int, *, samples: int | None, confidence: float) -> Outcome:
    """One suite of one of the examples."""
    mechanism, adjacency = audit_examples()[example]
    before = time.process_time()
    # No seed: the cryptographic generator, as a release has it.
    found = veil.audit_suite(mechanism, adjacency, samples=samples, confidence=confidence)
    alarm = f"{mechanism.name}: {found}" if found.violated else ""
    return Outcome(example, alarm, len(found.pairs), time.process_time() - before)


def run(
    repetitions: int = 100,
    samples: int | None = 1_000,
    seconds: float = float("inf"),
    processes: int | None = None,
    confidence: float = CONFIDENCE,
    log: Path | None = None,
) -> int:
    """Run the suites and print how many raised an alarm, and how likely that was."""
    chosen, names = list(range(len(audit_examples()))), [one.name for one, _ in audit_examples()]
    settings = {"samples": samples, "confidence": confidence}
    done = [line for line in logged(log) if settings.items() <= line.items()]
    suites, pairs, alarms = (sum(line[key] for line in done) for key in ("suites", "pairs", "alarms"))
    start, left_out = time.perf_counter(), []
    if done:
        print(f"{len(done)} repetitions, {suites} suites, {alarms} alarms before", flush=True)
    one = partial(audited, samples=samples, confidence=confidence)
    with ProcessPoolExecutor(processes or os.cpu_count()) as pool:
        for repetition in range(len(done) + 1, repetitions + 1):
            outcomes = list(pool.map(one, chosen))
            raised = [outcome.alarm for outcome in outcomes if outcome.alarm]
            for alarm in raised:
                print(f"ALARM {alarm}", flush=True)
            line = {
                **settings,
                "suites": len(outcomes),
                "pairs": sum(outcome.pairs for outcome in outcomes),
                "alarms": len(raised),
                "raised": raised,
            }
            suites, pairs, alarms = suites + line["suites"], pairs + line["pairs"], alarms + line["alarms"]
            if log is not None:
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
            if repetition == len(done) + 1:
                left_out = [outcome.example for outcome in outcomes if outcome.seconds > seconds]
                chosen = [example for example in chosen if example not in left_out]
            if repetition % 10 == 0 or repetition in (len(done) + 1, repetitions):
                took = time.perf_counter() - start
                print(f"{repetition} repetitions, {suites} suites, {alarms} alarms, {took:.0f} s", flush=True)
    each = 1.0 - confidence
    print(f"{alarms} alarms in {suites} suites of {pairs} pairs of made-up neighbours")
    print(f"the chance of any: at most {suites} x {each:.2g} = {suites * each:.2g}; allowed are {MOST:g}")
    if left_out:
        print(f"once only, as they take longer: {', '.join(names[example] for example in left_out)}")
    return int(alarms + (suites * each > MOST))


def logged(log: Path | None) -> list[dict[str, Any]]:
    """The repetitions that were done before."""
    if log is None or not log.exists():
        return []
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="False alarms of repeated audits.")
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--processes", type=int, default=None)
    parser.add_argument("--confidence", type=float, default=CONFIDENCE)
    parser.add_argument("--log", type=Path, default=None)
    sys.exit(min(1, run(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
