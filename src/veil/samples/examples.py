"""Good first requests for the made-up data, as they would be typed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from veil.core.writing import replacing, write_text
from veil.samples.gps import AREA, CELLS

# How many trips the city of the workbench has: read in a moment.
TRIPS = 200_000
# Sample files that are written as they are.
SMALL = ("grades.csv", "roads.csv", "crossings.csv", "ballots.csv", "friends.txt")
# All that `write_examples` writes.
FILES = (*SMALL, "zones.csv", "drives.csv", "streets.csv", "trips.parquet", "points.csv")


@dataclass(frozen=True)
class Example:
    """Made-up data with a request. texts: by part and field; names in `files` stand for paths."""

    kind: str
    file: str
    words: str
    texts: Mapping[str, str]
    files: tuple[str, ...] = ()


EXAMPLES = (
    Example(
        "chain",
        "trips.parquet",
        "Taxi trips through a city of 63 zones",
        {
            "read.origin": "pickup",
            "read.destination": "dropoff",
            "read.states": "zones.csv",
            "release.unit": "event",
            "release.change": "add-remove",
            "release.epsilon": "1",
            "plan.states": "63",
            "plan.records": f"{TRIPS}",
        },
        ("zones.csv",),
    ),
    Example(
        "graph",
        "friends.txt",
        "Friendships among 300 people",
        {"release.epsilon": "3", "plan.nodes": "300", "plan.edges": "1500"},
    ),
    Example(
        "bits",
        "ballots.csv",
        "Votes of a council on 16 questions",
        {
            "read.missing": "no",
            "release.unit": "row",
            "release.epsilon": "4",
            "plan.columns": "16",
            "plan.rows": "435",
        },
    ),
    Example(
        "words",
        "drives.csv",
        "Drives through the streets of a small town",
        {
            "read.by": "driver",
            "read.order": "minute",
            "read.state": "segment",
            "read.chain": "streets.csv",
            "release.epsilon": "5",
            "plan.length": "14",
        },
        ("streets.csv",),
    ),
    Example(
        "vector",
        "grades.csv",
        "Grades of a course",
        {"release.change": "add-remove", "release.epsilon": "1", "plan.size": "5"},
    ),
    Example(
        "matrix",
        "roads.csv",
        "Which road is taken at each crossing",
        {
            "release.rows": "1",
            "release.l1": "0.02",
            "release.support": "crossings.csv",
            "release.epsilon": "2",
        },
        ("crossings.csv",),
    ),
    Example(
        "trips",
        "points.csv",
        "GPS points of trips through a city",
        {
            "read.places": CELLS,
            "read.box": AREA,
            "read.lat": "lat",
            "read.lng": "lng",
            "read.by": "user",
            "read.trip": "trip",
            "read.order": "time",
            "release.unit": "trip",
            "release.epsilon": "1",
            "plan.places": CELLS,
            "plan.box": AREA,
            "plan.trips": "4000",
        },
    ),
)


def write_examples(folder: Path, *, trips: int | None = None, overwrite: bool = False) -> None:
    """Write the made-up data into a folder. trips: of the city. overwrite: also what is there already."""
    from veil import samples
    from veil.samples.city import write_city_trips, zones
    from veil.samples.gps import write_points
    from veil.samples.streets import write_drives, write_streets

    folder.mkdir(parents=True, exist_ok=True)

    def wanted(name: str) -> bool:
        return overwrite or not (folder / name).exists()

    texts = {name: samples.path(name).read_text(encoding="utf-8") for name in SMALL}
    texts["zones.csv"] = "".join(
        f"{zone},{district}\n" for zone, district in [("zone", "district"), *zones()]
    )
    for name in filter(wanted, texts):
        write_text(folder / name, texts[name], overwrite=overwrite)
    count = TRIPS if trips is None else trips
    tables: dict[str, Callable[[Path], object]] = {
        "drives.csv": write_drives,
        "streets.csv": write_streets,
        "trips.parquet": partial(write_city_trips, trips=count),
        "points.csv": write_points,
    }
    for name, write in tables.items():
        if wanted(name):
            with replacing(folder / name, overwrite=overwrite) as beside:
                write(Path(beside))
