"""A release that is ready to be made, and the verb `release` that makes one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from veil.core.account import Account, Charge, check_account, confirm, reserve
from veil.core.adjacency import Adjacency
from veil.core.checks import delta_of, plain_texts, truth, within
from veil.core.errors import InvalidArgument, InvalidData, NoGuarantee, PrivacyWarning, ResultLost, VeilError
from veil.core.intake import Labels
from veil.core.kind import Kind
from veil.core.mechanism import Mechanism, kind_of
from veil.core.privacy.profile import PrivacyProfile
from veil.core.random.streams import Rng, generator
from veil.core.record import Release
from veil.core.text import texts_in
from veil.version import __version__

V = TypeVar("V")
# Puts a release where it lasts, and may return it as it was recorded.
Keep = Callable[[Release[Any]], Release[Any] | None]


@dataclass(frozen=True, kw_only=True)
class Job(Generic[V]):
    """A release that is ready to be made. Nothing has been drawn or charged.

    value: the sensitive value, validated. epsilon, delta: what will be charged. assumptions: all that a
    reader must accept. chosen: the short name of the mechanism; why: the reason for it; plan: the comparison
    that it was chosen by. warnings: what the user should know before the release; notes: what else.
    told_first: of the warnings those that a command also prints before anything is drawn.
    kept: how much of the data survives smoothing, 1 is all of it. request, source: what was asked for, and
    the data as it was read.
    """

    kind: Kind
    mechanism: Mechanism
    adjacency: Adjacency
    value: Any = field(repr=False)
    profile: PrivacyProfile = field(repr=False)
    epsilon: float
    delta: float
    assumptions: tuple[str, ...] = ()
    labels: Labels | None = None
    row_labels: Labels | None = None
    records: int | None = None
    chosen: str = ""
    why: str = ""
    plan: Any = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    told_first: tuple[str, ...] = ()
    kept: float = 1.0
    request: Any = field(default=None, repr=False)
    source: Any = field(default=None, repr=False)

    @classmethod
    def prepare(
        cls,
        mechanism: Mechanism,
        value: Any,
        *,
        adjacency: Adjacency | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        assumptions: tuple[str, ...] = (),
        labels: Labels | None = None,
        row_labels: Labels | None = None,
        public_row_labels: bool | None = None,
        **about: Any,
    ) -> Job[V]:
        """Validate the value and compute what its release costs and assumes.

        assumptions: what must be accepted besides, such as how the value was read. labels, row_labels: where
        they do not come with the value itself. public_row_labels: whether the labels of the items of a batch
        are public; see `release`. about: further fields of the job.
        """
        kind, built_for = kind_of(mechanism), mechanism.adjacency
        near = built_for if adjacency is None else adjacency
        if near is None:
            raise InvalidArgument(
                "adjacency",
                expected=f"what a neighbour is, since {mechanism.name} has no adjacency of its own",
                found="None",
            )
        valid = mechanism.validate(value)
        # Refuses, in its own words, neighbours that the mechanism does not know.
        profile = mechanism.profile(near)
        kind.check(mechanism, near, valid)
        if epsilon is None and type(near) is type(built_for) and near == built_for:
            # Built for a stated epsilon: charged as it stands.
            epsilon = kind.stated_epsilon(mechanism)
        epsilon, delta = cost(profile, delta, epsilon)
        given = (None, None) if labels is not None else kind.labels(value, valid)
        stated = (*kind.assumptions(mechanism, near, valid), *assumptions)
        if kind.rows_are_items and given[1] is not None:
            given, public = _items_named(given, public_row_labels)
            stated = (*stated, *public)
        return cls(
            kind=kind,
            mechanism=mechanism,
            adjacency=near,
            value=valid,
            profile=profile,
            epsilon=epsilon,
            delta=delta,
            assumptions=tuple(dict.fromkeys(stated)),
            labels=labels if labels is not None else given[0],
            row_labels=row_labels if row_labels is not None else given[1],
            **about,
        ).checked()

    def checked(self) -> Job[V]:
        """The job; an error, before anything is charged, where its files could not be read again."""
        names: dict[str, Iterable[Any]] = dict(self.kind.texts(self))
        names |= {"assumptions": self.assumptions, "mechanism": texts_in(self.mechanism.describe())}
        for name, texts in names.items():
            plain_texts(name, map(str, texts), error=InvalidData)
        return self

    @property
    def cost(self) -> tuple[float, float]:
        """The epsilon and delta that `run` charges."""
        return self.epsilon, self.delta

    def charge(self, *, reproducible: bool = False) -> Charge:
        """The release as a ledger sees it."""
        return Charge(
            self.epsilon,
            self.delta,
            self.mechanism.describe(),
            self.adjacency,
            (self.profile,),
            reproducible=reproducible,
        )

    def run(self, *, ledger: Account | None = None, rng: Any = None, keep: Keep | None = None) -> Release[V]:
        """Reserve, draw, keep, confirm.

        ledger: where the cost is charged, before anything is drawn.
        rng: None for cryptographic randomness; a seed or a Generator marks the release as not private.
        keep: puts the release where it lasts, such as in a file, before the ledger is told that it was made.
            It may return the release as it was recorded. What goes wrong in there, or in a draw that was
            charged, is raised as ResultLost, which has the release. Nothing is ever drawn again for it.
        """
        if ledger is not None:
            check_account(ledger)
        self.checked()
        stream, reproducible = generator(rng), rng is not None
        entry = None if ledger is None else reserve(ledger, self.charge(reproducible=reproducible))
        # From here on the charge stands, whatever happens.
        release = None
        try:
            release = self._draw(stream, reproducible, entry)
            kept = release if keep is None else keep(release) or release
        except VeilError as error:
            if (ledger is None and release is None) or isinstance(error, ResultLost):
                raise
            raise ResultLost(entry=entry, why=str(error).rstrip("."), release=release) from error
        except Exception as error:
            if ledger is None and release is None:
                raise
            # What an unforeseen error says may quote data.
            raise ResultLost(entry=entry, why=type(error).__name__, release=release) from error
        except BaseException as stop:
            if ledger is not None:
                stop.add_note(f"charged as {entry}, and there is no result")
            raise
        if ledger is not None:
            confirm(ledger, entry, kept)
        return release

    def _draw(self, stream: Rng, reproducible: bool, entry: Any) -> Release[V]:
        """The complete record: nothing changes it afterwards."""
        content = self.kind.draw(self.mechanism, self.value, stream)
        return Release(
            value=content.value,
            tables=content.tables,
            mechanism=self.mechanism,
            adjacency=self.adjacency,
            epsilon=self.epsilon,
            delta=self.delta,
            assumptions=self.assumptions,
            reproducible=reproducible,
            entry=entry,
            labels=content.labels if self.labels is None else self.labels,
            row_labels=self.row_labels,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            version=__version__,
            records=self.records,
            chosen=f"{self.chosen}: {self.why}" if self.why else "",
        )


ROW_LABELS_ARE_PUBLIC = "the labels of the items of the batch are public"
_LEFT_OUT = (
    "The labels of the rows are left out of the release: they may be names of people. "
    "public_row_labels=True keeps them, if they are public, such as names of courses."
)


def _items_named(
    given: tuple[Labels | None, Labels | None], public: bool | None
) -> tuple[tuple[Labels | None, Labels | None], tuple[str, ...]]:
    """The labels of columns, those of items if they are stated to be public, and what is then assumed."""
    if truth("public_row_labels", public or False):
        return given, (ROW_LABELS_ARE_PUBLIC,)
    if public is None:
        warnings.warn(_LEFT_OUT, UserWarning, stacklevel=4)
    return (given[0], None), ()


def run_with_warnings(job: Job[V], *, ledger: Account | None, rng: Any) -> Release[V]:
    """Run a job for a caller of a kind's `release`, who is told what weakens it."""
    if rng is None:
        # A seeded release is not private and states so: nothing to warn of.
        for text in job.warnings:
            warnings.warn(text, PrivacyWarning, stacklevel=3)
    return job.run(ledger=ledger, rng=rng)


def cost(profile: PrivacyProfile, delta: float | None, stated: float | None = None) -> tuple[float, float]:
    """The (epsilon, delta) that a release with this profile is charged: as stated, or the least there is."""
    delta = None if delta is None else delta_of(delta)
    if stated is not None:
        stated = within("epsilon", stated, 0.0, expected="a number of at least 0", finite=False)
        if not profile.covers(stated, delta or 0.0):
            raise NoGuarantee(
                f"epsilon: {stated:g} at delta={delta or 0.0:g} does not cover what this mechanism reveals."
            )
        return stated, delta or 0.0
    if delta is None:
        if not math.isfinite(profile.pure_epsilon):
            raise InvalidArgument(
                "delta",
                expected="a number above 0, since this mechanism has no finite epsilon at delta = 0",
                found="None",
                hint="1e-6 is usual; it should be far below one over the number of people.",
            )
        return _plain_above(profile.pure_epsilon), 0.0
    epsilon = profile.epsilon(delta)
    if not math.isfinite(epsilon):
        raise NoGuarantee(f"delta: no finite epsilon holds at delta={delta:g}. Expected a larger delta.")
    return _plain_above(epsilon), delta


def _plain_above(epsilon: float) -> float:
    """The plain decimal just above, so that what was calibrated to 0.3 is charged 0.3."""
    plain = float(f"{epsilon:.12g}")
    return plain if epsilon <= plain <= epsilon * (1.0 + 1e-12) else epsilon


def release(
    mechanism: Mechanism,
    value: Any,
    *,
    adjacency: Adjacency | None = None,
    delta: float | None = None,
    epsilon: float | None = None,
    public_row_labels: bool | None = None,
    ledger: Account | None = None,
    rng: Any = None,
) -> Release[Any]:
    """Draw a private version of the value with a mechanism, and record what it guarantees.

    The kinds of data have a `release` of their own, which chooses the mechanism.

    adjacency: what a neighbour is; None for the mechanism's own.
    delta: the failure probability at which epsilon is stated; None means 0, for mechanisms that have a
        finite epsilon there.
    epsilon: what the mechanism was built for, which is then charged as it stands; refused if it does not
        cover what the mechanism reveals. None charges the least that does.
    public_row_labels: of a batch of vectors or counts whose rows have labels, whether these are public, as
        names of courses are, and names of people are not: only then they are kept in the release. None leaves
        them out with a warning, False without. States of matrices are always kept.
    ledger: where the cost is charged, before anything is drawn.
    rng: None for cryptographic randomness; a seed or a Generator marks the release as not private.

    >>> import veil
    >>> from veil import vectors
    >>> mechanism = vectors.DirichletCounts(2.2, 100, 3)
    >>> out = veil.release(mechanism, [40, 35, 25], adjacency=vectors.Records(), delta=1e-6)
    >>> out.value.shape, round(out.epsilon, 3), out.assumptions
    ((3,), 0.996, ())
    """
    check_account(ledger)
    job: Job[Any] = Job.prepare(
        mechanism,
        value,
        adjacency=adjacency,
        delta=delta,
        epsilon=epsilon,
        public_row_labels=public_row_labels,
    )
    return job.run(ledger=ledger, rng=rng)
