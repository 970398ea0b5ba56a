"""How often audits raise a false alarm: a hundred suites over all mechanisms with fresh, secret seeds.

Outside the tests, since it takes more than an hour: `python -m bench.audit_repetitions`. Shorter, without the
mechanisms whose suite takes longer than a second: `python -m bench.audit_repetitions --seconds 1`.
"""

from __future__ import annotations

import argparse
import sys
import time

import veil
from veil.core.audit.auditing import CONFIDENCE
from veil.core.audit.suite import audit_examples


def run(repetitions: int = 100, samples: int = 1_000, seconds: float = float("inf")) -> int:
    """Run the suites and print how many raised an alarm."""
    chosen = audit_examples()
    start, alarms, suites, left_out = time.perf_counter(), 0, 0, []
    for repetition in range(1, repetitions + 1):
        for example in list(chosen):
            mechanism, adjacency = example
            before = time.process_time()
            # No seed: the cryptographic generator, as a release has it.
            found = veil.audit_suite(mechanism, adjacency, samples=samples)
            suites += 1
            if found.violated:
                alarms += 1
                print(f"ALARM {mechanism.name}: {found}", flush=True)
            if repetition == 1 and time.process_time() - before > seconds:
                chosen.remove(example)
                left_out.append(mechanism.name)
        if repetition % 10 == 0 or repetition == repetitions:
            took = time.perf_counter() - start
            print(f"{repetition} repetitions, {suites} suites, {alarms} alarms, {took:.0f} s", flush=True)
    rate = suites * (1.0 - CONFIDENCE)
    print(f"{alarms} alarms in {suites} suites; the chance of any in all of them is at most {rate:.2g}")
    if left_out:
        print(f"once only, as they take longer: {', '.join(left_out)}")
    return alarms


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="False alarms of repeated audits.")
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    sys.exit(min(1, run(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
