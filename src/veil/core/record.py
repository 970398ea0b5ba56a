"""The record of one release: all that a reader needs, nothing that is sensitive."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import ROUND_CEILING, Decimal
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from veil.core.adjacency import Adjacency
from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument, optional
from veil.core.intake import Labels
from veil.core.kind import Kind
from veil.core.mechanism import Domain, Mechanism, kind_of
from veil.core.numerics.rounding import rounded_up
from veil.core.privacy.profile import PrivacyProfile
from veil.core.text import is_plain_text, visible

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

V = TypeVar("V")
T = TypeVar("T")
Tables = Mapping[str, NDArray[Any]]
# Rows and columns of a value that a notebook shows.
MOST_SHOWN = 12
_SHA256 = 64


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file beside the record of a release. sha256: of its content, by which it is recognised."""

    file: str
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Attachment:
        """The attachment that a file is."""
        plain_texts("path", [path.name])
        with path.open("rb") as stream:
            return cls(path.name, hashlib.file_digest(stream, "sha256").hexdigest())

    def is_beside(self, record: Path) -> bool | None:
        """Whether the file beside the record is the one that was written; None if there is none."""
        path = record.parent / self.file
        return Attachment.of(path).sha256 == self.sha256 if path.is_file() else None

    def to_dict(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Any) -> Attachment:
        """The attachment that a record names, checked to be a plain file name and a hash."""
        known = content if isinstance(content, Mapping) else {}
        file, sha256 = known.get("file", ""), known.get("sha256")
        plain = isinstance(file, str) and is_plain_text(file) and Path(file).name == file and file != ""
        if not plain or not isinstance(sha256, str) or len(sha256) > _SHA256 or not sha256.isalnum():
            raise InvalidArgument("attachments", expected="a file and its sha256", found="something else")
        return cls(str(file), sha256)


@dataclass(frozen=True, repr=False)
class Release(Generic[V]):
    """A private value, the mechanism that made it, and what is guaranteed.

    value: what may be handed out; its type is that of its kind of data.
    mechanism, adjacency: how it was made, and between which inputs it hides the difference.
    epsilon, delta: the guarantee that was charged. assumptions: what a reader must accept for it to hold;
    empty for the defaults. reproducible: drawn from a seed, so not private. entry: the ledger's id.
    labels, row_labels: the public names of columns and rows. records: the number of records, where public.
    chosen: how the mechanism was chosen, where `auto` did: by which measure, from public numbers alone.
    tables: further private tables that belong to the value. attachments: files beside the record.
    written: of a release that was read from a file, the description of its mechanism to the letter.
    Never in here: the input, a seed, anything computed from the input except through the mechanism.
    """

    value: V
    mechanism: Mechanism
    adjacency: Adjacency
    epsilon: float
    delta: float
    assumptions: tuple[str, ...] = ()
    reproducible: bool = False
    entry: Any = None
    labels: Labels | None = None
    row_labels: Labels | None = None
    created: str = ""
    version: str = ""
    records: int | None = None
    chosen: str = ""
    tables: Tables = field(default_factory=dict)
    attachments: Mapping[str, Attachment] = field(default_factory=dict)
    written: Mapping[str, Any] | None = field(default=None, repr=False)
    # Of the mechanism, set when the release is made.
    kind: Kind = field(init=False, repr=False)
    domain: Domain = field(init=False, repr=False)
    # e^epsilon, as people read it, rounded up: it is a bound.
    factor: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", kind_of(self.mechanism))
        object.__setattr__(self, "domain", self.mechanism.domain)
        tables = {key: frozen(table) for key, table in self.tables.items()}
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "value", self.kind.frozen(self.value, tables))
        factor = f"e^{rounded_up(self.epsilon)}"
        if self.epsilon < 50.0:
            exact = Decimal(math.exp(self.epsilon))
            factor = f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - 3), rounding=ROUND_CEILING):f}"
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "_derived", {})

    @property
    def profile(self) -> PrivacyProfile:
        """delta as a function of epsilon for this release."""
        return self.mechanism.profile(self.adjacency)

    @property
    def description(self) -> Mapping[str, Any]:
        """The name and parameters of the mechanism, as they were written and charged."""
        return self.mechanism.describe() if self.written is None else self.written

    def derived(self, key: str, compute: Callable[[], T]) -> T:
        """What a kind computes from a release, once."""
        known: dict[str, Any] = self.__dict__["_derived"]
        if key not in known:
            known[key] = compute()
        return known[key]  # type: ignore[no-any-return]

    # Handing it on

    def save(self, path: str | PathLike[str], *, overwrite: bool = False, csv_safe: bool = False) -> None:
        """Write the record as JSON, or only the value as CSV, by the ending of the path.

        csv_safe: in CSV, put an apostrophe in front of text that a spreadsheet would take for a formula: what
            begins with = + - @ and is no number.
        """
        from veil.core.files import save
        from veil.core.writing import path_of

        save(self, path_of(path), overwrite=overwrite, csv_safe=csv_safe)

    def report(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the report, one HTML page that needs nothing else."""
        from veil.core.writing import path_of, write_text

        write_text(path_of(path), self.kind.page(self), overwrite=overwrite)

    def plot(self) -> Figure:
        """A picture of the value."""
        return cast("Figure", self.kind.plot(self))

    def to_pandas(self) -> pandas.Series | pandas.DataFrame:
        """The value with its labels."""
        optional("pandas", "pandas")
        return self.kind.to_pandas(self)

    # What it is, in words

    @property
    def size(self) -> str:
        """How much was released."""
        return self.kind.size(self)

    @property
    def neighbours(self) -> str:
        """Between which inputs the difference is hidden."""
        return self.kind.neighbours(self)

    @property
    def worst_loss(self) -> float:
        """How far any belief can move: epsilon, or the largest loss that delta leaves possible."""
        return self.epsilon if self.delta == 0.0 else self.profile.pure_epsilon

    @property
    def guarantee(self) -> str:
        """The guarantee in one sentence."""
        hidden = self.kind.neighbours(self)
        extra = f", plus at most {rounded_up(self.delta, 3)}" if self.delta else ""
        return (
            f"Between neighbours ({hidden}) no outcome is more than {self.factor} times as likely for one as "
            f"for the other{extra}."
        )

    def __eq__(self, other: object) -> bool:
        from veil.core.files import to_json

        return isinstance(other, Release) and to_json(self) == to_json(other)

    def __hash__(self) -> int:
        return hash((self.created, self.epsilon, self.delta, self.mechanism.name, self.size))

    def __repr__(self) -> str:
        # One line, however large the value is: what is inside is asked for by name.
        private = "" if not self.reproducible else ", from a seed: not private"
        return (
            f"<veil.Release of {self.size} by {self.mechanism.name}: epsilon = {rounded_up(self.epsilon)}, "
            f"delta = {rounded_up(self.delta, 3)}{private}>"
        )

    def __str__(self) -> str:
        lines = [repr(self)[1:-1], *self.kind.details(self), self.guarantee]
        lines += [f"This holds only if {text}." for text in self.assumptions]
        return "\n".join(map(visible, lines))

    def _repr_html_(self) -> str:
        """For notebooks: a small table of the value, and the guarantee under it."""

        from veil.core.mechanism import ALARMING

        red = ' style="color: #b00020; font-weight: 600"'
        notes = "".join(
            f"<li{red if text in ALARMING else ''}>Assumes: {escape(text)}.</li>" for text in self.assumptions
        )
        if self.reproducible:
            notes += "<li><b>Not private:</b> drawn from a seed.</li>"
        return (
            f"<div><b>veil release</b> by {escape(self.mechanism.name)}: "
            f"&epsilon; = {rounded_up(self.epsilon)}, &delta; = {rounded_up(self.delta, 3)}"
            f"<table>{self.kind.card(self)}</table><p>{escape(self.guarantee)}</p><ul>{notes}</ul></div>"
        )


def checked_release(release: Any) -> Release[Any]:
    """The release, or an error where it is none."""
    if not isinstance(release, Release):
        raise InvalidArgument("release", expected="a veil.Release", found=type(release).__name__)
    return release


def frozen(array: Any) -> NDArray[Any]:
    """A copy of an array that cannot be written to."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy
