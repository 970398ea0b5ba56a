"""Real data where a folder has it; made-up data, named as such, where not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from veil.core.errors import InvalidArgument

# What a folder may hold, under the names in which it is published.
FILES = {
    "sessions": "msnbc990928.zip",
    "trips": "nyc_green_trips_2020-03_2020-12.csv.gz",
    "zones": "taxi_zone_lookup.csv",
    "friends": "facebook_combined.txt",
    "circles": "facebook_ego_membership.csv",
    "votes": "house-votes-84.data",
    "messages": "email-Eu-core.txt",
    "departments": "email-Eu-core-department-labels.txt",
}


@dataclass(frozen=True, slots=True)
class Data:
    """A folder with some of the files; None has none."""

    folder: Path | None = None

    @classmethod
    def of(cls, folder: Path | None) -> Data:
        if folder is not None and not folder.is_dir():
            raise InvalidArgument("data", expected="a folder", found=str(folder))
        if folder is not None and not any((folder / name).is_file() for name in FILES.values()):
            raise InvalidArgument(
                "data", expected=f"a folder with some of {', '.join(FILES.values())}", found="none of them"
            )
        return cls(folder)

    def file(self, name: str) -> Path | None:
        """The file of this name, if it is there."""
        path = None if self.folder is None else self.folder / FILES[name]
        return path if path is not None and path.is_file() else None

    def state(self, names: tuple[str, ...]) -> dict[str, int | None]:
        """What a result depended on: the sizes of the files, None for those that are missing."""
        found = {name: self.file(name) for name in names}
        return {name: None if path is None else path.stat().st_size for name, path in found.items()}
