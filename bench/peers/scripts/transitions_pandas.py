"""Transitions of a log in no order, counted as one does in pandas."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from bench.clock import least_seconds
from bench.peers.scripts.exchange import answer, given


def main() -> None:
    settings, arrays = given()
    pandas: Any = import_module("pandas")
    frame = pandas.DataFrame({name: arrays[name] for name in ("who", "moment", "zone")})

    def count() -> Any:
        ordered = frame.sort_values(["who", "moment", "zone"])
        follows = ordered.groupby("who")["zone"].shift(-1)
        pairs = pandas.DataFrame({"origin": ordered["zone"], "destination": follows}).dropna()
        return pairs.groupby(["origin", "destination"]).size()

    counts = count()
    matrix = np.zeros((settings["states"],) * 2, dtype=np.int64)
    for (origin, destination), number in counts.items():
        matrix[int(origin), int(destination)] = number
    answer("pandas", {"matrix": matrix}, seconds=least_seconds(count, runs=settings["runs"]))


if __name__ == "__main__":
    main()
