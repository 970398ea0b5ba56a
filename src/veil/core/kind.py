"""What a kind of data offers to everything that is shared, and which kinds there are.

Those that Veil comes with are listed in `veil.kinds`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, cast

from veil.core.adjacency import Adjacency
from veil.core.checks import shown
from veil.core.errors import InvalidArgument
from veil.core.formulas import safe_texts

if TYPE_CHECKING:
    from veil.core.audit.subject import AuditSubject
    from veil.core.baseline import Baseline
    from veil.core.intake import Labels
    from veil.core.job import Job
    from veil.core.mechanism import Mechanism
    from veil.core.random.streams import Rng
    from veil.core.record import Release, Tables
    from veil.core.request import PlanRequest, ReleaseRequest

Progress = Callable[[str], None]
Places = Mapping[str, str]


@dataclass(frozen=True)
class Content:
    """What was drawn or read from a file, as a release holds it."""

    value: Any
    tables: Tables = field(default_factory=dict)
    labels: Labels | None = None
    row_labels: Labels | None = None


class Kind(ABC):
    """A kind of data: its names, how it is read, released, written, shown and audited.

    Everything outside the folder of a kind asks the kind; nothing switches on what the data is. The
    constants name classes by "module:Class", so that nothing is imported before it is used.
    """

    # As on the command line: veil release NAME.
    name: ClassVar[str]
    # The module with `read`, `plan` and `release`.
    module: ClassVar[str]
    description: ClassVar[str]
    # Kinds whose mechanisms, domains and adjacencies occur inside those of this one.
    built_on: ClassVar[tuple[str, ...]] = ()
    mechanisms: ClassVar[Places] = {}
    domains: ClassVar[Places] = {}
    adjacencies: ClassVar[Places] = {}
    # Adjacencies by short names: "user", or "words:" for names with a number behind them.
    short_adjacencies: ClassVar[Mapping[str, Callable[[str], Adjacency]]] = {}
    # What can be asked for, as "module:Class"; None where a kind has no such command.
    read_request: ClassVar[str | None] = None
    release_request: ClassVar[str | None] = None
    plan_request: ClassVar[str | None] = None
    # Further commands: their names and "module:function".
    commands: ClassVar[Places] = {}
    # What prints a release in the terminal, as "module:function", unless `print_release` is written.
    release_printer: ClassVar[str]
    # Whether rows of a value are items of a batch: then their labels, which may name people, are left out.
    rows_are_items: ClassVar[bool] = False
    # Assumptions in the words of earlier versions, and what they are called now.
    former_assumptions: ClassVar[Mapping[str, str]] = {}
    # Endings of files that can hold the value alone, beside its record.
    table_endings: ClassVar[tuple[str, ...]] = (".csv",)

    # Names

    def requests(self, verb: str) -> tuple[Any, ...]:
        """What can be asked for: how to read and what to "release", or what to "plan"; empty for neither."""
        places = (self.read_request, self.release_request) if verb == "release" else (self.plan_request,)
        return () if None in places else tuple(map(resolve_name, filter(None, places)))

    def followups(self) -> Places:
        """Commands that can be run on a release of this kind: their names and places."""
        return self.commands

    # Releases

    def check(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> None:
        """Refuse, before anything is charged, a value that must not be released like this."""

    def stated_epsilon(self, mechanism: Mechanism) -> float | None:
        """The epsilon that a mechanism was built for and proved not to exceed; None to charge the least."""
        return None

    def labels(self, value: Any, valid: Any) -> tuple[Labels | None, Labels | None]:
        """The public labels of columns and rows that came with the value."""
        return None, None

    @abstractmethod
    def assumptions(self, mechanism: Mechanism, adjacency: Adjacency, valid: Any) -> tuple[str, ...]:
        """What a reader must accept for the guarantee to hold, in full and before anything is drawn."""

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        """What the data itself leads to: for its holder, before a release. Sensitive, and never recorded."""
        return ()

    def implied_assumptions(self, release: Release[Any]) -> tuple[str, ...]:
        """What a release of this mechanism and shape must state that it assumes."""
        return self.assumptions(release.mechanism, release.adjacency, release.value)

    def draw(self, mechanism: Any, valid: Any, rng: Rng) -> Content:
        """Draw once, and keep all of what was drawn that the guarantee covers."""
        return self.released(mechanism.sample(valid, rng=rng), valid)

    def released(self, drawn: Any, valid: Any) -> Content:
        """What a release holds of what was drawn."""
        return Content(drawn)

    def frozen(self, value: Any, tables: Tables) -> Any:
        """The value of a release so that nobody can change it."""
        return value

    # Files

    def texts(self, job: Job[Any]) -> Mapping[str, Iterable[Any]]:
        """The public names that the files of a release would hold, by field; those of its mechanism excepted.

        A name that could not be read again is refused before anything is charged.
        """
        return {"labels": job.labels or (), "row_labels": job.row_labels or ()}

    def wrote(self, content: Mapping[str, Any]) -> bool:
        """Whether a file of version 0.1, which names no kind, is of this one."""
        return content["mechanism"].get("name") in self.mechanisms

    @abstractmethod
    def encode(self, release: Release[Any]) -> dict[str, Any]:
        """The value as it is written to a file."""

    def digested(self, release: Release[Any]) -> dict[str, Any]:
        """The value as plain data whose hash stands for it, however a file packs it."""
        return self.encode(release)

    @abstractmethod
    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        """The value of a file, checked to be one that the mechanism can have made.

        content: of the whole file.
        """

    @abstractmethod
    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        """The value as a table: its header and its lines."""

    @abstractmethod
    def to_pandas(self, release: Release[Any]) -> Any:
        """The value with its labels, as a Series or a DataFrame."""

    # Files beside the record, of values too large for it

    def files_beside(self, record: Path) -> tuple[Path, ...]:
        """The files that a record in this place would have beside it."""
        return ()

    def write_beside(self, release: Release[Any], record: Path, *, overwrite: bool) -> Release[Any]:
        """Write what the record does not hold into files beside it, which the release then names."""
        return release

    def read_beside(self, content: Mapping[str, Any], record: Path | None) -> Mapping[str, Any]:
        """The content of a record with what the files beside it hold. record: where it lies, if in a file."""
        return content

    def recorded_tables(self, release: Release[Any]) -> dict[str, Any]:
        """The private tables as the record holds them."""
        return {key: table.tolist() for key, table in release.tables.items()}

    def digested_parts(self, release: Release[Any]) -> dict[str, Any]:
        """The private tables and the files beside the record, as plain data whose hash stands for them."""
        return {
            "tables": {key: table.tolist() for key, table in release.tables.items()},
            "attachments": {key: file.sha256 for key, file in release.attachments.items()},
        }

    def room(self, job: Job[Any]) -> int:
        """About how many bytes its files take, from public numbers; set aside before the charge."""
        return 2**20

    def check_output(self, path: Path, job: Job[Any], *, csv_safe: bool = False) -> None:
        """Refuse, before anything is charged, a table that could not hold the value."""
        if csv_safe:
            for texts in self.texts(job).values():
                safe_texts(list(map(str, texts)))

    def write_table(
        self, path: Path, release: Release[Any], job: Job[Any], *, overwrite: bool, csv_safe: bool = False
    ) -> Release[Any]:
        """Write the value alone to a file that ends in one of `table_endings`.

        csv_safe: as of `Release.save`. Returns the release as its record is to be written beside it.
        """
        release.save(path, overwrite=overwrite, csv_safe=csv_safe)
        return release

    def endings(self, request: ReleaseRequest, output: Path | None) -> tuple[str, ...]:
        """Endings of files that can hold the value that is asked for; refuses an output that cannot."""
        return self.table_endings

    # Words

    @abstractmethod
    def size(self, release: Release[Any]) -> str:
        """How much was released, in words."""

    def sizes(self, release: Release[Any]) -> dict[str, Any]:
        """How much was released, for machines."""
        return {"size": self.size(release)}

    def described(self, release: Release[Any]) -> str:
        """What is released, in words."""
        return release.domain.words

    def neighbours(self, release: Release[Any]) -> str:
        """Between which inputs the difference is hidden, in words."""
        return release.adjacency.words

    def details(self, release: Release[Any]) -> tuple[str, ...]:
        """Further sentences about what a release holds."""
        return ()

    def baselines(self, release: Release[Any]) -> tuple[Baseline, ...]:
        """The errors to expect of a release beside those of an answer that uses no data.

        From the release and public facts alone; none where nobody can say.
        """
        return ()

    def known_before(self, job: Job[Any]) -> tuple[Baseline, ...]:
        """The same as `baselines` before anything is drawn, as far as it follows from what is public."""
        return ()

    # Pictures and pages

    @abstractmethod
    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        """The report: one HTML page that needs nothing else.

        plan: how the mechanism was chosen, where that is known. record: where the release was read from.
        """

    @abstractmethod
    def card(self, release: Release[Any]) -> str:
        """The value as the rows of a small HTML table, for notebooks: short, however large the value is."""

    @abstractmethod
    def plot(self, release: Release[Any]) -> Any:
        """A matplotlib figure of the value."""

    def views(self, release: Release[Any]) -> Sequence[Any]:
        """What the workbench draws of a release, to be searched and put in order: `veil.report.views`.

        The value as a table is shown for every kind.
        """
        return ()

    def print_release(self, release: Release[Any], *, job: Job[Any], written: Sequence[Path]) -> None:
        """A release that was just made, in the terminal."""
        resolve_name(self.release_printer)(release, job=job, written=written)

    def check_plot(self, request: PlanRequest) -> None:
        """Refuse, before anything is computed, a plan that cannot be drawn."""

    def plot_plans(self, plans: Sequence[Any], chosen: float) -> Any:
        """A matplotlib figure of the error against epsilon, from plans at several epsilons."""
        raise InvalidArgument("plot", expected="none for this kind of data", found="a file")

    # Audits

    @cached_property
    def audit(self) -> AuditSubject:
        """How an audit attacks mechanisms of this kind."""
        return cast("AuditSubject", resolve_name(self.audit_subject)())

    audit_subject: ClassVar[str]


def exported(module: str, *names: str) -> Places:
    """The places of classes that a module exports, by their names."""
    return {name: f"{module}:{name}" for name in names}


# Where the kinds are, by their names, and those that were used.
_PLACES: dict[str, str] = {}
_KINDS: dict[str, Kind] = {}
_searched = False


def register(name: str, place: str) -> None:
    """Make a kind known. place: "module:Class", imported when the kind is first used."""
    _PLACES[name] = place


def unregister(name: str) -> None:
    """Forget a kind, as tests do with theirs."""
    _PLACES.pop(name, None)
    _KINDS.pop(name, None)


def kind_named(name: Any) -> Kind:
    """The kind of this name."""
    if isinstance(name, str) and name in _KINDS:
        return _KINDS[name]
    if not isinstance(name, str) or (name not in _PLACES and name not in kind_names()):
        raise InvalidArgument(
            "kind",
            expected=f"one of {', '.join(kind_names())}",
            found=shown(name),
            hint="A newer Veil or another package may know it.",
        )
    return _KINDS.setdefault(name, resolve_name(_PLACES[name])())


def kind_names() -> tuple[str, ...]:
    """The names of all kinds, those of other installed packages included."""
    global _searched
    if not _searched:
        from importlib.metadata import entry_points

        for entry in entry_points(group="veil.kinds"):
            _PLACES.setdefault(entry.name, entry.value)
        _searched = True
    return tuple(_PLACES)


def every_kind() -> tuple[Kind, ...]:
    """All kinds."""
    return tuple(kind_named(name) for name in kind_names())
