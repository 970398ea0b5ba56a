"""Private words from the list of all words by diffprivlib; errors: a row of them for each true word."""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bench.clock import least_seconds
from bench.peers.scripts.exchange import answer, given


def main() -> None:
    settings, arrays = given()
    library: Any = import_module("diffprivlib.mechanisms")
    errors = arrays["errors"]
    found: dict[str, Any] = {}
    for name in settings["mechanisms"]:
        make = partial(getattr(library, name), epsilon=settings["epsilon"], sensitivity=1.0)
        mechanisms = [make(utility=(-row).astype(float).tolist()) for row in errors]
        chosen: list[int] = []
        start = time.perf_counter()
        # A draw may take long, and how long is not known before; every word has equally many.
        while (
            len(chosen) < settings["draws"] * len(errors)
            and time.perf_counter() - start < settings["seconds"]
        ):
            chosen += [int(row[one.randomise()]) for row, one in zip(errors, mechanisms, strict=True)]
        mechanism = mechanisms[0]
        once = least_seconds(mechanism.randomise, runs=3)
        found[name] = {
            "mean": float(np.mean(chosen)),
            "error": float(np.std(chosen) / np.sqrt(len(chosen))),
            "draws": len(chosen),
            "seconds": once,
        }
    answer("diffprivlib", **found)


if __name__ == "__main__":
    main()
