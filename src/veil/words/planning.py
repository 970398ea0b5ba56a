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
from veil.words.language import FreeWords, Language
from veil.words.mechanisms.balanced_words import BalancedWords
from veil.words.mechanisms.exponential_words import ExponentialWords
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.mechanisms.sequential_words import SequentialWords
from veil.words.mechanisms.staircase_words import StaircaseWords
from veil.words.mechanisms.word_mechanism import LARGEST_EPSILON, WordMechanism
from veil.words.word_batch import WordBatch

_SEED = 5
# Walks that errors are averaged over, and how many steps of computing they may take together.
_WALKS, _BUDGET = 100, 2_000_000_000
# Beyond this a table of distances for one word takes longer than a plan should.
_MOST_CELLS = 500_000_000
_SMALLEST, _LARGEST = 0.01, 100.0
# Words of which the one nearest to the others is taken for an answer that uses no data.
_CANDIDATES = 100
# Beyond so many transitions the search for balanced weights takes minutes.
_MOST_EDGES = 1_500
_QUICK_EDGES = 50

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
    """One mechanism of a plan. error: the mean number of wrong symbols; None where it has none, and why."""

    name: str
    mechanism: WordMechanism | None
    error: float | None
    why: str = ""


@dataclass(frozen=True)
class WordPlan(Plan):
    """What each mechanism would do to made-up words, the best first."""

    printer: ClassVar[str | None] = "veil.words.report.console:print_word_plan"

    language: Language
    epsilon: float
    radius: int
    rows: tuple[WordRow, ...]
    walks: int
    from_examples: bool
    # The error of the word that is nearest to all others on average, on the same words.
    nothing: float
    # The error that was asked for, where epsilon follows from it.
    error: float | None = None

    @property
    def best(self) -> WordRow:
        return self.rows[0]

    @property
    def baselines(self) -> tuple[Baseline, ...]:  # type: ignore[override]
        return () if self.best.error is None else (baseline_of(self.nothing, self.best.error),)

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
    return Baseline("wrong symbols of a word", "always the same word", nothing, expected)


def made_up_words(language: Language) -> WordBatch:
    """Random walks, as many as a plan has time for; the same every time."""
    steps = language.length * max(1, language.graph.edges)
    return language.walks(int(np.clip(_BUDGET // steps, 1, _WALKS)), rng=_SEED)


def no_data_error(language: Language, words: WordBatch | None = None) -> float:
    """The mean number of wrong symbols if always the same word is released, whatever the true one is.

    That word is the one of many random walks that is nearest to other random walks on average: the best
    answer that uses no data, as nearly as that many tell. words: those to be hidden; None for random walks.
    """
    if isinstance(language, FreeWords):
        # Of words without constraints each is as good, and one drawn at random.
        return language.length * (1.0 - 1.0 / len(language.labels))
    some = language.walks(_CANDIDATES, rng=_SEED + 1).rows
    others = language.walks(_CANDIDATES, rng=_SEED + 2).rows
    away = np.array([(others != word).sum() for word in some])
    nearest = some[int(np.argmin(away))]
    hidden = language.walks(10 * _CANDIDATES, rng=_SEED + 3) if words is None else words
    return float((hidden.rows != nearest).sum(axis=1).mean())


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
    progress: Progress | None = None,
) -> WordPlan:
    """Every mechanism at this epsilon, by its expected number of wrong symbols.

    examples: public words like those to be hidden; None for random walks. No sensitive word is looked at.
    shorter: words of fewer symbols are to be hidden as well.
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
    rows = []
    with telling(listener):
        for name in chosen:
            with part(name):
                rows.append(_measured(name, language, epsilon, radius, shorter, words))
    rows.sort(key=lambda row: np.inf if row.error is None else row.error)
    if rows[0].error is None:
        raise InvalidArgument("mechanism", expected="one that fits the language", found=rows[0].why)
    nothing = no_data_error(language, None if examples is None else words)
    return WordPlan(language, epsilon, radius, tuple(rows), len(words), examples is not None, nothing)


def _measured(
    name: str, language: Language, epsilon: float, radius: int, shorter: bool, words: WordBatch
) -> WordRow:
    try:
        mechanism = word_mechanism(name, language, epsilon, radius=radius, shorter=shorter)
        error = mean_error(mechanism, words)
        if error is None:
            return WordRow(name, None, None, "its table of distances would be too large")
        return WordRow(name, mechanism, error)
    except VeilError as failed:
        return WordRow(name, None, None, str(failed))


def mean_error(mechanism: WordMechanism, words: WordBatch) -> float | None:
    """The expected number of wrong symbols, over words; None where computing it takes too long."""
    language, rows = mechanism.language, words.rows
    if isinstance(mechanism, PermuteAndFlip) and not isinstance(language, FreeWords):
        cells = language.length**2 * language.graph.edges
        if cells > _MOST_CELLS:
            return None
        rows = rows[: max(1, int(_BUDGET // cells))]
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
