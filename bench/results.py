"""A whole run: what was found, on what kind of machine, with which versions."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.measure import Growth, Missing, Ratio
from veil.version import __version__


def machine_facts() -> dict[str, Any]:
    """What a reader needs to judge the seconds; neither names nor paths."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load at the start": None if load is None else round(load, 1),
    }


def own_versions() -> dict[str, str]:
    """Of Veil and of what is measured inside its own process."""
    return {"veil": __version__} | {name: version(name) for name in ("numpy", "scipy", "numba", "duckdb")}


@dataclass
class Results:
    """Everything that a run leaves behind."""

    quick: bool
    made: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))
    machine: dict[str, Any] = field(default_factory=machine_facts)
    versions: dict[str, str] = field(default_factory=own_versions)
    ratios: list[Ratio] = field(default_factory=list)
    growths: list[Growth] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def groups(self) -> dict[str, list[Ratio]]:
        """The ratios by chapter, in the order in which they were found."""
        found: dict[str, list[Ratio]] = {}
        for ratio in self.ratios:
            found.setdefault(ratio.group, []).append(ratio)
        return found

    def number(self, verdict: str) -> int:
        """How many comparisons Veil wins or loses, or in how many both are even."""
        return sum(ratio.verdict == verdict for ratio in self.ratios)

    def to_dict(self) -> dict[str, Any]:
        return {
            "quick": self.quick,
            "made": self.made,
            "machine": self.machine,
            "versions": self.versions,
            "ratios": [ratio.to_dict() for ratio in self.ratios],
            "growths": [growth.to_dict() for growth in self.growths],
            "missing": [missing.to_dict() for missing in self.missing],
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Results:
        return cls(
            quick=content["quick"],
            made=content["made"],
            machine=dict(content["machine"]),
            versions=dict(content["versions"]),
            ratios=[Ratio.from_dict(one) for one in content["ratios"]],
            growths=[Growth.from_dict(one) for one in content["growths"]],
            missing=[Missing.from_dict(one) for one in content["missing"]],
            seconds=dict(content["seconds"]),
        )

    def write(self, folder: Path) -> None:
        """results.json and index.html."""
        from bench.page import page

        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        (folder / "results.json").write_text(text + "\n", encoding="utf-8")
        (folder / "index.html").write_text(page(self), encoding="utf-8")
