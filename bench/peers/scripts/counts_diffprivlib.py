"""Noise on counts by diffprivlib: Laplace, and the Gaussian with the analytic calibration."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from bench.peers.scripts.exchange import answer, given


def main() -> None:
    settings, arrays = given()
    library: Any = import_module("diffprivlib.mechanisms")
    l1, l2 = settings["l1"], settings["l2"]
    kinds = {
        "laplace": library.Laplace(epsilon=settings["epsilon"], delta=0.0, sensitivity=l1),
        "gaussian": library.GaussianAnalytic(
            epsilon=settings["epsilon"], delta=settings["delta"], sensitivity=l2
        ),
    }
    counts, repeats = arrays["counts"].tolist(), settings["repeats"]
    drawn = {
        name: np.array([[kind.randomise(float(value)) for value in counts] for _ in range(repeats)])
        for name, kind in kinds.items()
    }
    answer("diffprivlib", drawn)


if __name__ == "__main__":
    main()
