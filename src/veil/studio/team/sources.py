"""Where the data of projects is: known to the server and to who added it, and to nobody who uses it.

A source is not changed once it was added: a plan that was approved means the same data until its release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from veil.core.errors import InvalidArgument
from veil.studio.schema import schema_of
from veil.studio.team.accounts import Account
from veil.studio.team.audit import note
from veil.studio.team.database import Database
from veil.studio.team.faults import NotHere
from veil.studio.team.projects import Project, checked_title
from veil.studio.team.sealing import Sealing
from veil.studio.workspace import new_id

# How a database is shown: nothing of its address is.
HIDDEN_ADDRESS = "postgresql://"
# What an address may say beside the place: nothing that names files of the server.
_ALLOWED = ("sslmode", "connect_timeout", "application_name")


@dataclass(frozen=True)
class Source:
    """shown: the name of the file, or that it is a database. dataset: the budget that is charged for it.

    header: yes, no, or empty where nobody knows whether the first line names the columns. seal: the hash of
    what is sealed, by which an approved plan knows that it is the same source.
    """

    id: str
    title: str
    shown: str
    dataset: str
    table: str
    header: str
    columns: tuple[tuple[str, str], ...]
    asked: tuple[tuple[str, str], ...]
    retired: bool
    seal: str

    @property
    def kind(self) -> str:
        """What it is, for people."""
        return "PostgreSQL" if self.shown == HIDDEN_ADDRESS else f"file {self.shown}"


def _source(row: Mapping[str, Any]) -> Source:
    return Source(
        id=row["id"],
        title=row["title"],
        shown=row["shown"],
        dataset=row["dataset"],
        table=row["table_name"],
        header=row["header"],
        columns=tuple((name, kind) for name, kind in json.loads(row["columns"])),
        asked=tuple((name, question) for name, question in json.loads(row["asked"])),
        retired=row["retired"],
        seal=sha256(bytes(row["sealed"])).hexdigest(),
    )


@dataclass(frozen=True)
class Sources:
    """All sources. data: the folder in which files may be; None for none."""

    database: Database
    sealing: Sealing
    data: Path | None

    def of(self, project: Project) -> list[Source]:
        """Those of a project that can be used."""
        with self.database.begin() as rows:
            found = rows.all(
                "SELECT * FROM veil_studio_sources WHERE project = :project AND NOT retired "
                "ORDER BY title, id",
                project=project.id,
            )
        return [_source(row) for row in found]

    def get(self, project_id: str, name: str) -> Source:
        """One of a project."""
        return _source(self._row(project_id, name))

    def add(
        self, project: Project, by: Account, *, title: str, place: str, table: str, header: str, dataset: str
    ) -> Source:
        """A new source. Its columns are read, by names and declared types, and nothing else of it.

        header: "yes" if the first line of a text names the columns; only then it is read.
        """
        title, table = checked_title(title), table.strip()
        place = place.strip()
        is_database = "://" in place
        location = _address(place) if is_database else str(self.checked_file(place))
        if header not in ("yes", "no", ""):
            raise InvalidArgument("header", expected="yes or no", found="something else")
        schema = schema_of(location, table=table or None, has_header=header == "yes")
        if schema.error:
            raise InvalidArgument("source", expected="data that can be read", found=schema.error)
        made = new_id()
        with self.database.begin() as rows:
            rows.run(
                "INSERT INTO veil_studio_sources "
                "(id, project, dataset, title, shown, sealed, table_name, header, columns, asked) VALUES "
                "(:id, :project, :dataset, :title, :shown, :sealed, :table, :header, :columns, :asked)",
                id=made,
                project=project.id,
                dataset=dataset,
                title=title,
                shown=HIDDEN_ADDRESS if is_database else Path(location).name,
                sealed=self.sealing.seal(made, {"location": location}),
                table=table,
                header=header,
                columns=json.dumps(schema.columns),
                asked=json.dumps(schema.questions),
            )
            note(rows, by.name, "source added", project=project.id, source=made, budget=dataset)
        return self.get(project.id, made)

    def retire(self, project: Project, by: Account, name: str) -> None:
        """Let a source be used no more."""
        with self.database.begin() as rows:
            if not rows.run(
                "UPDATE veil_studio_sources SET retired = true WHERE id = :id AND project = :project",
                id=name,
                project=project.id,
            ):
                raise NotHere("There is no such source.")
            note(rows, by.name, "source retired", project=project.id, source=name)

    def location(self, project_id: str, name: str) -> str:
        """The path or the address, for the process that makes a release."""
        row = self._row(project_id, name)
        found = str(self.sealing.unseal(name, row["sealed"])["location"])
        return found if "://" in found else str(self.checked_file(found))

    def check_key(self) -> None:
        """Whether the key opens what is there."""
        with self.database.begin() as rows:
            row = rows.one("SELECT id, sealed FROM veil_studio_sources LIMIT 1")
        if row is not None:
            self.sealing.unseal(row["id"], row["sealed"])

    def checked_file(self, place: str) -> Path:
        """A file in the folder of data, with all links followed; an error for any other path."""
        expected = "a file in the folder of data of this server"
        if self.data is None:
            raise InvalidArgument(
                "source", expected="the address of a database", found="a file", hint="See --data."
            )
        try:
            folder = self.data.resolve(strict=True)
            found = (folder / place).resolve(strict=True)
            inside = found.is_relative_to(folder) and found.is_file()
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside:
            # Not whether there is such a file elsewhere.
            raise InvalidArgument("source", expected=expected, found="no such file")
        return found

    def _row(self, project_id: str, name: str) -> Mapping[str, Any]:
        with self.database.begin() as rows:
            row = rows.one(
                "SELECT * FROM veil_studio_sources WHERE id = :id AND project = :project",
                id=name,
                project=project_id,
            )
        if row is None:
            raise NotHere("There is no such source.")
        return row


def _address(place: str) -> str:
    """The address of a database that names a server, and no file of this one."""
    # Never what was found: it may hold a password.
    fault = InvalidArgument(
        "source", expected="postgresql://user:password@host:port/database", found="another address"
    )
    try:
        parts = urlsplit(place)
        given = [
            name
            for name, _ in parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        ]
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise fault from None
    if parts.scheme not in ("postgresql", "postgres") or not host or "/" in host or "%" in host:
        raise fault
    if parts.fragment or any(name not in _ALLOWED for name in given):
        raise fault
    return place
