"""The groups of a release: their chains, about how large they are, and which are large enough to use.

All of it is computed from the release, and costs nothing: which groups are small is judged by their noisy
counts, never by the true ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from veil.chains.sequence_model import mechanism_of, model
from veil.core.brief import brief_repr
from veil.core.checks import integer
from veil.core.errors import InvalidArgument
from veil.core.formulas import safe_texts
from veil.core.kind import Progress
from veil.core.record import Release
from veil.core.request import CSV_SAFE, CommandRequest, option
from veil.core.writing import replacing
from veil.matrices.chain import Chain
from veil.report.terminal import say

# What the terminal shows.
_SHOWN = 30


@dataclass(frozen=True, slots=True)
class GroupChain:
    """The chain of one group. noisy_count: about how many transitions it has; it is unbiased, and can be
    negative. deviation: the standard deviation of its noise."""

    chain: Chain
    noisy_count: int
    deviation: float

    __repr__ = brief_repr


def groups(release: Release[Any], *, least: int | None = None) -> dict[str, GroupChain]:
    """The chain of each group with its noisy count, where a release has one for each.

    least: leave out the groups whose noisy count is below this.

    >>> from veil import chains
    >>> trips = {"from": "aab" * 40, "to": "abb" * 40, "hour": [8] * 114 + [9] * 6}
    >>> trips = {name: list(values) for name, values in trips.items()}
    >>> counts = chains.read(trips, origin="from", destination="to", group="hour", groups="8,9")
    >>> list(chains.groups(chains.release(counts, epsilon=2.0, rng=1), least=50))
    ['8']
    """
    least = None if least is None else integer("least", least, least=0)
    mechanism = mechanism_of(release)
    part = mechanism.first["transitions"]
    if mechanism.groups is None or part.noise is None:
        expected = "one with a chain for each group"
        raise InvalidArgument("release", expected=expected, found="one without groups")
    chains, tables = model(release).groups, release.tables["transitions"]
    deviation = part.noise.deviation * math.sqrt(math.prod(part.shape[1:]))
    sizes = {name: int(table.sum()) for name, table in zip(mechanism.groups, tables, strict=True)}
    kept = {name: size for name, size in sizes.items() if least is None or size >= least}
    return {name: GroupChain(chains[name], size, deviation) for name, size in kept.items()}


@dataclass(frozen=True, kw_only=True)
class ListGroups(CommandRequest):
    """List the groups of a released chain with their noisy counts, and leave the small ones out.

    It costs no privacy: only the release is read.
    """

    examples = (("", {"source": "hours.json", "least": 1000, "output": "hours.csv"}),)

    source: Path = option(help="A released chain with groups (.json).", flag="RELEASE")
    least: int | None = option(
        None, help="Leave out the groups with a noisy count of transitions below this.", least=0
    )
    output: Path | None = option(
        None,
        help="Where to write the chains of the others: .csv or .parquet (group, noisy_count, from, to, "
        "probability).",
        short="-o",
        group="Output",
    )
    csv_safe: bool = option(False, help=CSV_SAFE, group="Output")

    @property
    def outputs(self) -> dict[str, tuple[Path | None, tuple[str, ...]]]:
        return {"output": (self.output, (".csv", ".parquet"))}

    def run(self, *, overwrite: bool, progress: Progress | None = None) -> GroupList:
        from veil.core.files import load

        release = load(self.source)
        kept = groups(release, least=self.least)
        if self.output is not None:
            with replacing(self.output, overwrite=overwrite) as beside:
                _write(kept, Path(beside), self.output.suffix.lower(), csv_safe=self.csv_safe)
        return GroupList(kept, len(groups(release)) - len(kept), self.output)


@dataclass(frozen=True, slots=True)
class GroupList:
    """The groups that are large enough, how many are not, and where the first were written."""

    kept: dict[str, GroupChain]
    left_out: int
    output: Path | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "groups": {name: one.noisy_count for name, one in self.kept.items()},
            "left_out": self.left_out,
            "deviation": next((one.deviation for one in self.kept.values()), None),
            "output": None if self.output is None else str(self.output),
        }

    def show(self) -> None:
        for name, one in list(self.kept.items())[:_SHOWN]:
            say(f"{name}: about {one.noisy_count:,} transitions (± {2.0 * one.deviation:,.0f})")
        if len(self.kept) > _SHOWN:
            say(f"and {len(self.kept) - _SHOWN:,} more.")
        if self.left_out:
            say(
                f"Left out by their noisy counts: {self.left_out:,} group{'' if self.left_out == 1 else 's'}."
            )
        unsaved = "Not saved: add -o FILE.csv to keep their chains."
        say(unsaved if self.output is None else f"Written: {self.output}")


def _write(kept: dict[str, GroupChain], path: Path, ending: str, *, csv_safe: bool) -> None:
    import pyarrow as pa

    # The states are the same in all of them.
    labels = [str(state) for one in list(kept.values())[:1] for state in one.chain.states]
    names = list(kept)
    if csv_safe and ending == ".csv":
        names, labels = safe_texts(names), safe_texts(labels)
    size, number = len(labels), len(names)
    places = np.indices((number, size, size)).reshape(3, -1)
    matrices = [one.chain.to_numpy().ravel() for one in kept.values()]
    counts = np.array([one.noisy_count for one in kept.values()], dtype=np.int64)
    table = pa.table(
        {
            "group": pa.array(names, pa.string()).take(pa.array(places[0])),
            "noisy_count": counts[places[0]],
            "from": pa.array(labels, pa.string()).take(pa.array(places[1])),
            "to": pa.array(labels, pa.string()).take(pa.array(places[2])),
            "probability": np.concatenate([*matrices, np.empty(0)]),
        }
    )
    if ending == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path)
    else:
        import pyarrow.csv as pc

        pc.write_csv(table, path)
