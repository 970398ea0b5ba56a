"""The report of released words: one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veil.core.privacy.profile import beliefs, best_guess
from veil.core.record import Release
from veil.report import figures
from veil.report.page import page
from veil.words.chain_words import ChainWords
from veil.words.codec import AttachedWords
from veil.words.mechanisms.balanced_words import BalancedWords
from veil.words.mechanisms.each_word import EachWord
from veil.words.mechanisms.word_mechanism import WordMechanism
from veil.words.planning import WordPlan, WordRow, mean_error, names_for, plan_words
from veil.words.profiles import made_up_words
from veil.words.report.figures import errors_figure, visits_figure
from veil.words.report.routes import lengths_figure, steps_figure
from veil.words.word_batch import WordBatch

_MOST_ROWS = 15
_SHOWN_WORDS = 5


@dataclass(frozen=True)
class WordReport:
    """All that the page shows, computed from the release and public facts alone."""

    release: Release[Any]
    batch: WordBatch
    plan: WordPlan

    @classmethod
    def of(cls, release: Release[Any], words: WordBatch, *, plan: WordPlan | None = None) -> WordReport:
        """Post-processing, and a plan on made-up words: costs no privacy."""
        mechanism = inner(release)
        if plan is None:
            names = names_for(mechanism.language, mechanism.radius)
            if not isinstance(mechanism, BalancedWords):
                # The search for its weights takes longer than all the rest.
                names = tuple(name for name in names if name != "balanced")
            language, radius, shorter = (
                mechanism.language,
                mechanism.radius,
                getattr(mechanism, "shorter", False),
            )
            plan = plan_words(language, mechanism.epsilon, radius=radius, names=names, shorter=shorter)
        return cls(release, words, plan)

    @property
    def mechanism(self) -> WordMechanism:
        return inner(self.release)

    @property
    def error(self) -> float:
        """The expected number of wrong symbols on made-up words."""
        if self._row is not None and self._row.error is not None:
            return self._row.error
        error = expected_error(self.release)
        if error is not None:
            return error
        walks = self.mechanism.language.walks(50)
        return float(self.mechanism.expected_errors(walks.rows).mean())

    @property
    def chosen(self) -> str:
        """The short name of the mechanism that was used."""
        return "" if self._row is None else self._row.name

    @property
    def _row(self) -> WordRow | None:
        return next((row for row in self.plan.rows if row.mechanism == self.mechanism), None)

    @property
    def visits(self) -> list[tuple[str, float]]:
        """The symbols that private words show most, and their shares."""
        return [(str(label), share) for label, share in self.batch.most_visited(_MOST_ROWS)]

    @property
    def lengths(self) -> list[tuple[int, int]]:
        """How many words there are of each length; public."""
        return list(AttachedWords.of(self.batch).lengths.items())

    def html(self) -> str:
        """The page."""
        errors = {row.name: row.error for row in self.plan.rows if row.error is not None}
        of = self.mechanism.language.length
        bars = errors_figure(errors, of=of, chosen=self.chosen, nothing=self.plan.nothing)
        language = self.mechanism.language
        steps = steps_figure(self.batch, language) if isinstance(language, ChainWords) else None
        return page(
            "words.html",
            package="veil.words.report",
            report=self,
            release=self.release,
            guess=best_guess(self.release.profile),
            beliefs=beliefs(self.release.worst_loss),
            shown=[[str(symbol) for symbol in word] for word in self.batch[:_SHOWN_WORDS]],
            is_chain=isinstance(self.mechanism.language, ChainWords),
            bars=figures.svg(bars),
            visits=figures.svg(visits_figure(self.batch)),
            lengths=figures.svg(lengths_figure(dict(self.lengths))),
            steps=None if steps is None else figures.svg(steps),
        )


def inner(release: Release[Any]) -> WordMechanism:
    """The mechanism that draws each word."""
    return _each(release.mechanism)


def expected_error(release: Release[Any]) -> float | None:
    """The expected number of wrong symbols on made-up words; None if it takes too long to find out."""
    return release.derived("expected_error", lambda: error_of(release.mechanism))


def error_of(mechanism: Any) -> float | None:
    """`expected_error` of what a mechanism will release."""
    each = _each(mechanism)
    return mean_error(each, made_up_words(each.language))


def _each(mechanism: Any) -> WordMechanism:
    each = mechanism.mechanism if isinstance(mechanism, EachWord) else mechanism
    assert isinstance(each, WordMechanism)
    return each
