"""How a workbench of a team is set up: what is chosen when it is started."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from veil.core.errors import InvalidArgument
from veil.studio.team.proxies import Proxies


@dataclass(frozen=True)
class Settings:
    """address: under which browsers reach it, such as https://veil.example.org/studio. data: the folder
    in which files of data may be; None for no files. single_steward: one steward may approve what they
    proposed themselves. workers: releases that are made at once.
    """

    address: str
    folder: Path
    ledger: str
    data: Path | None = None
    proxies: Proxies = field(default_factory=Proxies)
    single_steward: bool = False
    workers: int = 1
    idle: timedelta = timedelta(hours=1)
    longest: timedelta = timedelta(hours=12)

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        fits = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        if not fits or parts.username is not None or ".." in parts.path or "//" in parts.path:
            expected = "https://name, perhaps with a path"
            raise InvalidArgument("--address", expected=expected, found=self.address[:80])

    @property
    def host(self) -> str:
        """The name, with its port if it is not the usual one."""
        return urlsplit(self.address).netloc

    @property
    def prefix(self) -> str:
        """What comes before every path; empty for a name of its own."""
        return urlsplit(self.address).path.rstrip("/")

    @property
    def is_encrypted(self) -> bool:
        """Whether browsers reach it by https only."""
        return urlsplit(self.address).scheme == "https"
