"""Run all benchmarks: `make bench`, or one: `python -m bench NAME`."""

from __future__ import annotations

import sys

from bench import (
    auto,
    batch,
    bits,
    classification,
    cold,
    counting,
    doubly,
    exact_noise,
    exactness,
    facebook,
    ledger,
    polya_urn,
    randomness,
    sessions,
    simulation,
    stationary,
    taxi,
    words,
)

BENCHMARKS = {
    "cold": cold.run,
    "batch": batch.run,
    "exactness": exactness.run,
    "simulation": simulation.run,
    "stationary": stationary.run,
    "doubly": doubly.run,
    "counting": counting.run,
    "taxi": taxi.run,
    "auto": auto.run,
    "exact_noise": exact_noise.run,
    "words": words.run,
    "sessions": sessions.run,
    "classification": classification.run,
    "bits": bits.run,
    "facebook": facebook.run,
    "ledger": ledger.run,
    "randomness": randomness.run,
    "polya_urn": polya_urn.run,
}


def main(names: list[str]) -> None:
    """Run the named benchmarks, or all."""
    for name in names or list(BENCHMARKS):
        print(f"== {name}")
        BENCHMARKS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
