"""Words as a kind of data: trajectories, sessions and other strings of symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.baseline import Baseline
from veil.core.brief import card_rows, short
from veil.core.errors import InvalidArgument
from veil.core.formulas import safe_texts
from veil.core.job import Job
from veil.core.kind import Content, Kind, Places
from veil.core.mechanism import adjacency_of
from veil.core.record import MOST_SHOWN, Release, Tables, frozen
from veil.words.adjacency import ONE_WORD_EACH, Hamming

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MECHANISMS = "veil.words.mechanisms"
# Words that a notebook shows, and letters of their symbols.
_WORDS_SHOWN, _SYMBOL_SHOWN = 6, 16


class WordKind(Kind):
    """Words: trajectories, sessions and other strings of symbols."""

    name = "words"
    module = "veil.words"
    description = "words: trajectories, sessions and other strings of symbols"
    mechanisms: ClassVar[Places] = {
        "BalancedWords": f"{_MECHANISMS}.balanced_words:BalancedWords",
        "EachWord": f"{_MECHANISMS}.each_word:EachWord",
        "ExponentialWords": f"{_MECHANISMS}.exponential_words:ExponentialWords",
        "PermuteAndFlip": f"{_MECHANISMS}.permute_and_flip:PermuteAndFlip",
        "SequentialWords": f"{_MECHANISMS}.sequential_words:SequentialWords",
        "StaircaseWords": f"{_MECHANISMS}.staircase_words:StaircaseWords",
    }
    domains: ClassVar[Places] = {
        "AutomatonWords": "veil.words.automaton_words:AutomatonWords",
        "ChainWords": "veil.words.chain_words:ChainWords",
        "FreeWords": "veil.words.language:FreeWords",
    }
    adjacencies: ClassVar[Places] = {"Hamming": "veil.words.adjacency:Hamming"}
    short_adjacencies: ClassVar[Any] = {"words:": lambda size: Hamming(int(size))}
    read_request = "veil.words.requests:WordRead"
    release_request = "veil.words.requests:WordRelease"
    plan_request = "veil.words.requests:WordPlanning"
    release_printer = "veil.words.report.console:print_word_release"
    audit_subject = "veil.words.auditing:WordAudit"
    table_endings = (".csv", ".csv.gz", ".parquet", ".pq")
    former_assumptions: ClassVar[Mapping[str, str]] = {
        "one item per person: each word belongs to someone else": ONE_WORD_EACH
    }

    def stated_epsilon(self, mechanism: Any) -> float | None:
        return getattr(mechanism, "epsilon", None)

    def assumptions(self, mechanism: Any, adjacency: Adjacency, valid: Any) -> tuple[str, ...]:
        return _assumptions(mechanism, adjacency, several=mechanism.is_batch(valid))

    def data_findings(self, job: Job[Any]) -> tuple[str, ...]:
        """Symbols that no word has."""
        words: Any = job.value
        unseen = len(words.labels) - len(np.unique(words.codes))
        return (f"{unseen:,} of {len(words.labels):,} symbols are in no word",) if unseen else ()

    def implied_assumptions(self, release: Release[Any]) -> tuple[str, ...]:
        several = release.mechanism.name != "EachWord" and not isinstance(release.value, tuple)
        return _assumptions(release.mechanism, release.adjacency, several=several)

    def frozen(self, value: Any, tables: Tables) -> Any:
        return frozen(value) if isinstance(value, np.ndarray) else value

    def encode(self, release: Release[Any]) -> dict[str, Any]:
        from veil.words.codec import AttachedWords, batch, words_to_json

        is_attached = isinstance(release.value, AttachedWords)
        return release.value.to_json() if is_attached else words_to_json(batch(release))

    def decode(self, content: Mapping[str, Any], mechanism: Any) -> Content:
        from veil.words.codec import TABLE, AttachedWords, words_from_json

        # No word that the mechanism does not cover, such as a shorter one.
        is_table = mechanism.name == "EachWord"
        if TABLE in content.get("attachments", {}):
            shorter = is_table and mechanism.mechanism.covers_shorter
            longest = mechanism.domain.length
            return Content(AttachedWords.from_json(content["value"], longest=longest, shorter=shorter))
        value = words_from_json(content["value"], mechanism.domain, is_table=is_table)
        if is_table:
            mechanism.validate(value)
        return Content(value)

    def rows(self, release: Release[Any]) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
        from veil.words.codec import batch, words_to_rows

        return ("word", "position", "symbol"), words_to_rows(batch(release))

    def to_pandas(self, release: Release[Any]) -> Any:
        import pandas

        from veil.words.codec import batch

        words = batch(release)
        numbers = pandas.Index(np.repeat(np.arange(1, len(words) + 1), words.lengths), name="word")
        return pandas.Series([symbol for word in words for symbol in word], index=numbers, name="symbol")

    def endings(self, request: Any, output: Path | None) -> tuple[str, ...]:
        if request.keep_keys and output is not None and output.suffix.lower() == ".json":
            expected = "a table, which can say whose word it is, as the output"
            raise InvalidArgument("keep_keys", expected=expected, found=output.name)
        return self.table_endings

    def check_output(self, path: Path, job: Job[Any], *, csv_safe: bool = False) -> None:
        from veil.words.codec import checked_columns

        _, names = checked_columns(path, job.source, job.request.keep_keys)
        if csv_safe:
            safe_texts(names)
            safe_texts(list(map(str, job.mechanism.domain.labels)))  # type: ignore[attr-defined]

    def write_table(
        self, path: Path, release: Release[Any], job: Job[Any], *, overwrite: bool, csv_safe: bool = False
    ) -> Release[Any]:
        """The words as rows; the record beside them names the table instead of holding the words."""
        from veil.words.codec import attached, batch, write_words

        # Without their keys they were put into a random order before they were drawn.
        codes, keep = batch(release).codes, job.request.keep_keys
        write_words(
            path, words=codes, table=job.source, keep_keys=keep, overwrite=overwrite, csv_safe=csv_safe
        )
        return attached(release, path)

    def size(self, release: Release[Any]) -> str:
        count = self.sizes(release)["words"]
        where = f" in {file.file}" if (file := release.attachments.get("words")) is not None else ""
        return f"{count:,} word{'' if count == 1 else 's'}{where}"

    def sizes(self, release: Release[Any]) -> dict[str, Any]:
        return {"words": 1 if isinstance(release.value, tuple) else len(release.value)}

    def baselines(self, release: Release[Any]) -> tuple[Baseline, ...]:
        from veil.words.report.page import expected_error

        return _baselines(release.domain, expected_error(release))

    def known_before(self, job: Job[Any]) -> tuple[Baseline, ...]:
        from veil.words.report.page import error_of

        return _baselines(job.mechanism.domain, error_of(job.mechanism))

    def page(self, release: Release[Any], *, plan: Any = None, record: Path | None = None) -> str:
        from veil.words.codec import AttachedWords, batch, words_beside
        from veil.words.report.page import WordReport

        is_attached = isinstance(release.value, AttachedWords)
        words = words_beside(release, record) if is_attached else batch(release)
        return WordReport.of(release, words, plan=plan).html()

    def card(self, release: Release[Any]) -> str:
        from veil.words.codec import AttachedWords, batch

        if isinstance(release.value, AttachedWords):
            return card_rows((), [(self.size(release),)])
        words = batch(release)
        lines = []
        for word in words[:_WORDS_SHOWN]:
            more = len(word) - MOST_SHOWN
            shown = [short(symbol, _SYMBOL_SHOWN) for symbol in word[:MOST_SHOWN]]
            lines.append([*shown, *[""] * -more, f"and {more:,} more" if more > 0 else ""])
        further = len(words) - _WORDS_SHOWN
        rest = [(f"and {further:,} more words",)] if further > 0 else []
        return card_rows((), [*lines, *rest])

    def views(self, release: Release[Any]) -> Sequence[Any]:
        from veil.words.report.views import word_views

        return word_views(release)

    def plot(self, release: Release[Any]) -> Figure:
        from veil.words.codec import batch
        from veil.words.report.figures import visits_figure

        return visits_figure(batch(release))

    def plot_plans(self, plans: Sequence[Any], chosen: float) -> Figure:
        from veil.words.planning import error_curves
        from veil.words.report.figures import error_figure

        return error_figure(error_curves(plans), marks=[chosen], nothing=plans[-1].nothing)


def _baselines(language: Any, error: float | None) -> tuple[Baseline, ...]:
    from veil.words.planning import baseline_of
    from veil.words.profiles import no_data_error

    return () if error is None else (baseline_of(no_data_error(language), error),)


def _assumptions(mechanism: Any, adjacency: Adjacency, *, several: bool) -> tuple[str, ...]:
    """several: more than one word is released, in one draw."""
    from veil.words.mechanisms.each_word import whose_words

    near: Hamming = adjacency_of(mechanism, adjacency, Hamming)
    stated = (*mechanism.assumptions(near), *whose_words(near, several=several))
    return tuple(dict.fromkeys(stated))
