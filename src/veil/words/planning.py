"""Which mechanism errs least on words of a language, measured on made-up words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veil.core.baseline import Baseline
from veil.core.checks import integer, items, on_progress, positive, shown, truth
from veil.core.errors import CannotCalibrate, InvalidArgument, VeilError
from veil.core.kind import Progress
from veil.core.plan import Plan, beside
from veil.core.progress import part, telling
from veil.core.span import SPARED, Span, assumed
from veil.words.language import FreeWords, Language
from veil.words.mechanisms.balanced_words import BalancedWords
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.mechanisms.sequential_words import SequentialWords
from veil.words.mechanisms.staircase_words import StaircaseWords
from veil.words.mechanisms.word_mechanism import LARGEST_EPSILON, WordMechanism
from veil.words.profiles import BUDGET, USUAL, made_up_words, no_data_error, word_profiles
from veil.words.word_batch import WordBatch

# Beyond this a table of distances for one word takes longer than a plan should.
_MOST_CELLS = 500_000_000
_SMALLEST, _LARGEST = 0.01, 100.0
# Beyond so many transitions the search for balanced weights takes minutes.
_MOST_EDGES = 1_500
_QUICK_EDGES = 50

MEASURE, ANSWER = "wrong symbols of a word", "always the same word"

_KINDS: dict[str, Any] = {
    "balanced": BalancedWords,
    "exponential": ExponentialWords,
    "sequential": SequentialWords,
    "staircase": StaircaseWords,
    "permute-and-flip": PermuteAndFlip,
    "generic": ExponentialWords,
}
FOR_WORDS = tuple(_KINDS)


def word_mechanism(
    name: str, language: Language, epsilon: float, *, radius: int = 1, shorter: bool = False
) -> WordMechanism:
    """The mechanism of this name. shorter: it is to be used for words of fewer symbols as well."""
    if not isinstance(name, str) or name not in FOR_WORDS:
        raise InvalidArgument("mechanism", expected=f"one of {', '.join(FOR_WORDS)}", found=shown(name))
    options: dict[str, Any] = {"calibration": "generic"} if name == "generic" else {}
    if name in ("balanced", "exponential"):
        options = {"shorter": shorter}
    made: WordMechanism = _KINDS[name](language, epsilon, radius=radius, **options)
    return made


@dataclass(frozen=True)
class WordRow:
    """One mechanism of a plan. error: the mean number of wrong symbols; None where it has none, and why.

    span: the same over several kinds of words, the usual ones first.
    """

    name: str
    mechanism: WordMechanism | None
    error: float | None
    why: str = ""
    span: Span | None = None


@dataclass(frozen=True)
class WordPlan(Plan):
    """What each mechanism would do to made-up words, the best first.

    nothing: the errors of the word that is nearest to all others on average, on the same words. tried: what
    these words are, the usual ones first. error: that was asked for, where epsilon follows from it.
    """

    printer: ClassVar[str | None] = "veil.words.report.console:print_word_plan"

    language: Language
    epsilon: float
    radius: int
    rows: tuple[WordRow, ...]
    walks: int
    from_examples: bool
    nothings: tuple[float, ...]
    tried: tuple[str, ...]
    error: float | None = None

    @property
    def best(self) -> WordRow:
        return self.rows[0]

    @property
    def nothing(self) -> float:
        """The error of an answer that uses no data, on the usual words."""
        return self.nothings[0]

    @property
    def assumes(self) -> str:  # type: ignore[override]
        if isinstance(self.language, FreeWords) and not self.from_examples:
            return "Assumed: nothing of the words; the error is the same for all of them."
        told = assumed(self.tried, of="words")
        spared = "Ranges are of means over words and releases."
        return told if len(self.tried) == 1 else f"{told} {spared} {SPARED}"

    @property
    def baselines(self) -> tuple[Baseline, ...]:  # type: ignore[override]
        span = self.best.span
        return () if span is None else (Baseline.over(MEASURE, ANSWER, self.nothings, span, self.tried),)

    def to_dict(self) -> dict[str, Any]:
        return {
            "language": self.language.words,
            "epsilon": self.epsilon,
            "radius": self.radius,
            "made_up_words": self.walks,
            "mechanisms": [
                {
                    "name": row.name,
                    "expected_error": row.error,
                    "error_range": None if row.span is None else row.span.to_dict(),
                    "rate": None if row.mechanism is None else row.mechanism.rate,
                    "certified_epsilon": None if row.mechanism is None else row.mechanism.certified_epsilon,
                    "why_not": row.why,
                }
                for row in self.rows
            ],
            **beside(self),
        }


def baseline_of(nothing: float, expected: float) -> Baseline:
    """An expected number of wrong symbols beside that of one word, the same whatever the true one is."""
    return Baseline(MEASURE, ANSWER, nothing, expected)


def names_for(language: Language, radius: int) -> tuple[str, ...]:
    """The mechanisms that are worth a look for this language."""
    if isinstance(language, FreeWords):
        # Without constraints nothing is to be balanced, and responses in sequence are the exponential's.
        return ("exponential", "permute-and-flip", "generic") + (("staircase",) if radius > 1 else ())
    # The weights are for single changes, and their search is for graphs of moderate size.
    balanced = ("balanced",) if radius == 1 and language.graph.edges <= _MOST_EDGES else ()
    return (*balanced, "exponential", "sequential", "permute-and-flip", "generic")


def plan_words(
    language: Language,
    epsilon: float,
    *,
    radius: int = 1,
    examples: Any = None,
    names: Sequence[str] | None = None,
    shorter: bool = False,
    ranged: bool = False,
    progress: Progress | None = None,
) -> WordPlan:
    """Every mechanism at this epsilon, by its expected number of wrong symbols.

    examples: public words like those to be hidden; None for random walks. No sensitive word is looked at.
    shorter: words of fewer symbols are to be hidden as well. ranged: errors on words of other habits too,
    which takes longer; they never change which mechanism is the best.
    """
    listener = on_progress("progress", progress)
    if not isinstance(language, Language):
        expected = "a language such as words.FreeWords"
        raise InvalidArgument("language", expected=expected, found=type(language).__name__)
    # What is wrong for every mechanism is stated once, not as the fault of one.
    epsilon = positive("epsilon", epsilon, least=1e-6, most=LARGEST_EPSILON)
    radius = integer("radius", radius, least=1)
    shorter = truth("shorter", shorter)
    chosen = names_for(language, radius)
    if names is not None:
        chosen = tuple(items("names", names, expected="names of mechanisms"))
        if not chosen:
            raise InvalidArgument("names", expected="at least one", found="none")
    words = made_up_words(language) if examples is None else language.validate(examples)
    others = word_profiles(language) if ranged and examples is None else {}
    rows = []
    with telling(listener):
        for name in chosen:
            with part(name):
                rows.append(_measured(name, language, epsilon, radius, shorter, [words, *others.values()]))
    rows.sort(key=lambda row: np.inf if row.error is None else row.error)
    if rows[0].error is None:
        raise InvalidArgument("mechanism", expected="one that fits the language", found=rows[0].why)
    usual = USUAL if examples is None else "the typical words given"
    nothings = (
        no_data_error(language, None if examples is None else words),
        *(no_data_error(language, walks) for walks in others.values()),
    )
    known, tried = examples is not None, (usual, *others)
    return WordPlan(language, epsilon, radius, tuple(rows), len(words), known, nothings, tried)


def _measured(
    name: str, language: Language, epsilon: float, radius: int, shorter: bool, words: Sequence[WordBatch]
) -> WordRow:
    """words: the usual ones, and those of other habits."""
    try:
        mechanism = word_mechanism(name, language, epsilon, radius=radius, shorter=shorter)
        errors = [error for some in words if (error := mean_error(mechanism, some)) is not None]
        if not errors:
            return WordRow(name, None, None, "its table of distances would be too large")
        span = Span(tuple(errors))
        return WordRow(
            name, mechanism, errors[0], span=span if len(errors) == 1 else span.spared(language.length)
        )
    except VeilError as failed:
        return WordRow(name, None, None, str(failed))


def mean_error(mechanism: WordMechanism, words: WordBatch) -> float | None:
    """The expected number of wrong symbols, over words; None where computing it takes too long."""
    language, rows = mechanism.language, words.rows
    if isinstance(mechanism, PermuteAndFlip) and not isinstance(language, FreeWords):
        cells = language.length**2 * language.graph.edges
        if cells > _MOST_CELLS:
            return None
        rows = rows[: max(1, int(BUDGET // cells))]
    return float(mechanism.expected_errors(rows).mean())


def least_epsilon_for_words(
    language: Language, *, error: float, radius: int = 1, progress: Progress | None = None
) -> float:
    """The epsilon at which the best mechanism changes this many symbols of a word, to one percent."""
    error = positive("error", error)
    names = tuple(name for name in names_for(language, radius) if name != "generic")
    slow = () if isinstance(language, FreeWords) else ("balanced", "exponential")
    quick = tuple(name for name in names if name not in slow)

    def gap(log_epsilon: float, names: tuple[str, ...]) -> float:
        plan = plan_words(language, math.exp(log_epsilon), radius=radius, names=names, progress=progress)
        assert plan.best.error is not None
        return plan.best.error - error

    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    above, below = gap(low, quick), gap(high, quick)
    if below > 0.0:
        below = gap(high, names)
        if below > 0.0:
            raise CannotCalibrate(f"error: no epsilon up to {_LARGEST:g} gives so few wrong symbols.")
    elif above > 0.0:
        # With those alone that need no search: an epsilon that is enough, within a factor of two or so.
        while high - low > 0.05:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if gap(middle, quick) > 0.0 else (low, middle)
        below = gap(high, names)
        low = high - math.log(2.0)
        while (above := gap(low, names)) <= 0.0 and low > math.log(_SMALLEST):
            high, below = low, above
            low = max(low - math.log(2.0), math.log(_SMALLEST))
    if above <= 0.0:
        return _SMALLEST
    # Errors fall steeply and smoothly: a line through both ends hits sooner than halving.
    # In a large graph each step takes seconds.
    close = 1e-3 if language.graph.edges <= _QUICK_EDGES or isinstance(language, FreeWords) else 1e-2
    while high - low > close:
        share = min(max(above / (above - below), 0.05), 0.95) if below < 0.0 else 0.9
        middle = low + share * (high - low)
        difference = gap(middle, names)
        if difference > 0.0:
            low, above, below = middle, difference, 0.5 * below
        else:
            high, below, above = middle, difference, 0.5 * above
    return math.exp(high)


def error_curves(plans: Sequence[WordPlan]) -> dict[str, tuple[list[float], list[float]]]:
    """Expected errors against epsilon, from plans at several: for each mechanism its points."""
    curves: dict[str, tuple[list[float], list[float]]] = {}
    for plan in plans:
        for row in plan.rows:
            if row.error is not None:
                x, y = curves.setdefault(row.name, ([], []))
                x.append(plan.epsilon)
                y.append(row.error)
    return curves
