"""What can be asked of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from veil.core.checks import integer, positive
from veil.core.errors import InvalidArgument, InvalidData
from veil.core.job import Job
from veil.core.kind import Progress
from veil.core.mechanism import LAYOUT_IS_PUBLIC, ROW_BY_ROW, STATES_ARE_PUBLIC
from veil.core.numerics.rounding import float_below, stated
from veil.core.preview import Preview
from veil.core.random.streams import generator
from veil.core.request import PlanRequest, ReadRequest, ReleaseRequest, option, texts
from veil.tables.given import files_among, listed
from veil.tables.sequences import SequenceFile
from veil.tables.source_options import query_option, table_option
from veil.tables.states import given_states
from veil.tables.times import time_format_option
from veil.words.language import Language
from veil.words.mechanisms.each_word import EachWord
from veil.words.planning import (
    FOR_WORDS,
    WordPlan,
    least_epsilon_for_words,
    names_for,
    plan_words,
    word_mechanism,
)
from veil.words.reading import given_language, given_words, read_words
from veil.words.supports import read_support
from veil.words.table import WordTable, free_words, language_of
from veil.words.word_batch import WordBatch

_INPUT, _FEASIBLE = "Input", "Feasible words"
_CHAIN = (
    "What is feasible, public: a CSV of allowed transitions (from,to), a matrix, or a released model "
    "(.json). Without it every word over the symbols is."
)
_LEAST = "With {chain}: transitions less probable than this are not allowed."
_START = "With {chain}: the public state before the first one of every word."
_TRIPS = {"source": "trips.csv", "by": "user", "order": "time", "state": "segment"}
_RADIUS = "How many symbols of a word are hidden at once."
_LANGUAGE = "Instead: the feasible words as a JSON description, such as that of an automaton."
_TYPICAL = (
    "Public words like those to be hidden, a text file with one per line, on which mechanisms are compared; "
    "random walks otherwise."
)


@dataclass(frozen=True, kw_only=True)
class WordRead(ReadRequest):
    """Read words from a log of states or a file of sequences."""

    source: Any = option(
        help="CSV, Parquet or JSON lines (globs too), a .duckdb file, postgresql://..., or with {lines} a "
        "text file with one word per line.",
        secret=True,
    )
    by: Sequence[str] | str | None = option(
        None,
        help="Column that tells words apart: a user. Two for user and trip (user,trip): the first is the "
        "person.",
        group=_INPUT,
        column=True,
    )
    order: str | None = option(None, help="Column that says when.", group=_INPUT, column=True)
    state: str | None = option(None, help="Column of the state.", group=_INPUT, column=True)
    tie_break: str | None = option(
        None, help="Column that orders rows of the same time.", group=_INPUT, column=True
    )
    time_format: str | None = time_format_option()
    lines: bool = option(
        False, help="The input is text, one word of states per line.", flag="--sequences", group=_INPUT
    )
    skip: int = option(0, help="With {lines}: lines before the first one.", least=0, group=_INPUT)
    separator: str | None = option(
        None, help="With {lines}: between states; white space otherwise.", group=_INPUT
    )
    table: str | None = table_option()
    query: str | None = query_option("read")
    chain: Any = option(None, help=_CHAIN, group=_FEASIBLE)
    least: float = option(0.0, help=_LEAST, least=0.0, group=_FEASIBLE)
    symbols: Any = option(
        None,
        help="Without {chain}: the public list of symbols, as a file or a,b,c; otherwise those found, whose "
        "list is then assumed public.",
        group=_FEASIBLE,
    )
    start: str | int | None = option(None, help=_START, group=_FEASIBLE)

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.source, self.chain, self.symbols)

    def check(self) -> None:
        super().check()
        if not self.lines and (self.skip or self.separator is not None):
            names = ("skip", "separator")
            raise InvalidArgument(
                "lines", expected="it with {skip} or {separator}", found="none", names=names
            )
        _check_language(self.chain, self.symbols, self.start, self.least)

    def read(self, progress: Progress | None = None) -> WordTable:
        self.check()
        allowed = None if self.chain is None else read_support(self.chain, least=self.least)
        batch = read_words(
            SequenceFile(self.source, self.separator, self.skip) if self.lines else self.source,
            by=texts("by", self.by) if isinstance(self.by, str) else self.by,
            order=self.order,
            state=self.state,
            tie_break=self.tie_break,
            time_format=self.time_format,
            states=listed("symbols", self.symbols) if allowed is None else list(allowed.labels),
            table=self.table,
            query=self.query,
            progress=progress,
        )
        return replace(batch, allowed=allowed, start=self.start)


@dataclass(frozen=True, kw_only=True)
class WordRelease(ReleaseRequest):
    """Release private words: each feasible, of the same length as the true one, and near it.

    Hidden is which symbols a word has in any few places, as many as the radius. That there is a word, and its
    length, is public.
    """

    examples = (
        ("", {**_TRIPS, "chain": "roads.csv", "epsilon": 5, "output": "private.csv"}),
        ("One word per line", {"source": "words.txt", "lines": True, "epsilon": 2, "output": "private.csv"}),
    )

    mechanism: str = option(
        "auto",
        help="auto (least expected error), balanced, exponential, sequential, staircase, permute-and-flip, "
        "or generic.",
        short="-m",
        choices=("auto", *FOR_WORDS),
        group="Mechanism",
    )
    radius: int = option(1, help=_RADIUS, short="-b", least=1, group="Privacy")
    words_each: int = option(
        1, help="How many words one person has at most; public.", least=1, group="Privacy"
    )
    longest: int | None = option(
        None, help="The most symbols of a word; public. Otherwise that of the data.", least=1, group="Privacy"
    )
    keep_keys: bool = option(
        False,
        help="Keep the order of the keys, and write whose word it is; otherwise words are numbered in random "
        "order.",
        group="Output",
    )
    language: Any = option(None, help=_LANGUAGE, group=_FEASIBLE, advanced=True)
    typical: Any = option(None, help=_TYPICAL, group="Mechanism", advanced=True)

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.language, self.typical)

    def check(self) -> None:
        super().check()
        integer("radius", self.radius, least=1)
        integer("words_each", self.words_each, least=1)
        if self.longest is not None:
            integer("longest", self.longest, least=1)
            if self.language is not None:
                expected = "none with {language}, which has the length of the longest word"
                found = str(self.longest)
                raise InvalidArgument("longest", expected=expected, found=found, names=("language",))

    def prepare(self, data: Any, *, rng: Any = None, progress: Progress | None = None) -> Job[Any]:
        self.check()
        language, words, source = self._feasible(data, given_language(self.language), rng)
        # Costs of one person's words add up.
        each = float_below(stated(positive("epsilon", self.epsilon)) / self.words_each)
        # How long the words are is public.
        shorter = bool((words.lengths < language.length).any())
        plan = None
        if self.mechanism == "auto":
            plan = plan_words(
                language,
                each,
                radius=self.radius,
                examples=given_words(self.typical, language),
                # The generic rate never is the best.
                names=[name for name in names_for(language, self.radius) if name != "generic"],
                shorter=shorter,
                progress=progress,
            )
            inner = plan.best.mechanism
            assert inner is not None
        else:
            inner = word_mechanism(self.mechanism, language, each, radius=self.radius, shorter=shorter)
        is_table = isinstance(source, WordTable)
        is_guessed = self.language is None and (not is_table or source.states_found)
        assumed = {
            ROW_BY_ROW: is_table and source.unchecked,
            STATES_ARE_PUBLIC: is_guessed,
            LAYOUT_IS_PUBLIC: is_table and source.layout_guessed,
        }
        return Job.prepare(
            EachWord(inner, words_each=self.words_each),
            words,
            epsilon=self.epsilon,
            assumptions=tuple(text for text, applies in assumed.items() if applies),
            chosen=self.mechanism if plan is None else plan.best.name,
            why="" if plan is None else "the least expected error on made-up words",
            notes=_expected_wrong(plan),
            plan=plan,
            request=self,
            source=source,
        )

    def _feasible(self, data: Any, language: Language | None, rng: Any) -> tuple[Language, WordBatch, Any]:
        """The language, the words as codes of it, and the data, put into a random order if it is a table."""
        if not isinstance(data, WordTable):
            if language is None:
                data, language = free_words(data, self.longest)
            return language, language.validate(data, shorter=True), data
        data.check_people(self.words_each)
        if language is None:
            language = data.language(self.longest)
        elif data.states != language.labels:
            data = data.recoded(list(language.labels))
        try:
            # Before they are shuffled: a wrong word is named by its number in the order of the keys.
            language.validate(data.batch, shorter=True)
        except InvalidData as error:
            hint = "Words are numbered from 1 in the order of their keys. Nothing was released."
            raise InvalidData(error.field, expected=error.expected, found=error.found, hint=hint) from None
        if not self.keep_keys:
            # In the order of their keys, words would say whose they are.
            data = data.reordered(generator(rng).permutation(len(data)))
        return language, data.batch, data


def _expected_wrong(plan: WordPlan | None) -> tuple[str, ...]:
    """That little is left of the words, where that is to be expected."""
    if plan is None or plan.best.error is None or plan.best.error <= 0.5 * plan.language.length:
        return ()
    return ("More than half of the symbols will be wrong; epsilon is too small",)


@dataclass(frozen=True, kw_only=True)
class WordPlanning(PlanRequest):
    """What to expect of each mechanism for words, without any data."""

    examples = (
        ("", {"chain": "roads.csv", "length": 14, "epsilon": 5}),
        ("Words without constraints", {"symbols": 17, "length": 10, "epsilon": 2}),
        ("The epsilon for one wrong symbol in a word", {"chain": "roads.csv", "length": 14, "error": 1}),
    )

    length: int | None = option(None, help="The number of symbols of a word.", short="-n", least=1)
    epsilon: float | None = option(None, help="Privacy loss; smaller is more private.", short="-e")
    chain: Any = option(None, help=_CHAIN)
    least: float = option(0.0, help=_LEAST, least=0.0)
    symbols: Any = option(None, help="Without {chain}: how many symbols there are, a file, or a,b,c.")
    start: str | int | None = option(None, help=_START)
    radius: int = option(1, help=_RADIUS, short="-b", least=1)
    error: float | None = option(
        None, help="The other way round: the epsilon for so many wrong symbols in a word."
    )
    shorter: bool = option(False, help="Words of fewer symbols are to be hidden as well.", advanced=True)
    language: Any = option(None, help=_LANGUAGE, advanced=True)
    typical: Any = option(None, help=_TYPICAL, advanced=True)

    @property
    def inputs(self) -> tuple[str, ...]:
        return files_among(self.chain, self.symbols, self.language, self.typical)

    def check(self) -> None:
        super().check()
        if (self.epsilon is None) == (self.error is None):
            expected, names = "either it or {error}", ("error",)
            raise InvalidArgument("epsilon", expected=expected, found="both or neither", names=names)
        named = ("chain", "symbols", "language")
        if sum(getattr(self, name) is not None for name in named) != 1:
            expected = "one of {chain}, {symbols} and {language}"
            raise InvalidArgument("chain", expected=expected, found="none, or several", names=named)
        if (self.length is None) == (self.language is None):
            expected = "the number of symbols of a word, or {language}, which has one"
            found = "neither" if self.length is None else "both"
            raise InvalidArgument("length", expected=expected, found=found, names=("language",))
        _check_language(self.chain, self.symbols, self.start, self.least)

    def plan(self, progress: Progress | None = None) -> WordPlan:
        return self._planned(progress, ranged=True)

    def quick_plan(self) -> WordPlan:
        return self._planned(None, ranged=False)

    def _planned(self, progress: Progress | None, *, ranged: bool) -> WordPlan:
        self.check()
        language, epsilon = self._language(), self.epsilon
        if epsilon is None:
            assert self.error is not None
            epsilon = least_epsilon_for_words(
                language, error=self.error, radius=self.radius, progress=progress
            )
        plan = plan_words(
            language,
            epsilon,
            radius=self.radius,
            examples=given_words(self.typical, language),
            shorter=self.shorter,
            ranged=ranged,
            progress=progress,
        )
        return plan if self.epsilon is not None else replace(plan, error=self.error)

    def preview(self, plan: Any) -> Preview | None:
        from veil.words.preview import preview_words

        return preview_words(plan, given_words(self.typical, plan.language))

    def _language(self) -> Language:
        language = given_language(self.language)
        if language is not None:
            return language
        assert self.length is not None
        length = integer("length", self.length, least=1)
        allowed = None if self.chain is None else read_support(self.chain, least=self.least)
        return language_of(allowed, _alphabet(self.symbols), length, self.start)


def _check_language(chain: Any, symbols: Any, start: Any, least: float) -> None:
    """What does not go together, before anything is read."""
    if chain is not None and symbols is not None:
        expected = "none with {chain}, which names them"
        raise InvalidArgument("symbols", expected=expected, found="both", names=("chain",))
    for field, given in (("start", start is not None), ("least", least > 0.0)):
        if chain is None and given:
            raise InvalidArgument(field, expected="{chain} with it", found="none", names=("chain",))


def _alphabet(symbols: Any) -> Any:
    """A number of symbols, or their list."""
    if symbols is None or isinstance(symbols, int):
        return symbols
    if isinstance(symbols, str) and symbols.isdigit():
        return int(symbols)
    return list(given_states(listed("symbols", symbols)).labels)
