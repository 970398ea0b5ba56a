"""What released words might look like, from random walks through the same language."""

from __future__ import annotations

from typing import Any

from veil.core.job import Job
from veil.core.preview import Preview
from veil.report.views import Routes
from veil.words.mechanisms.each_word import EachWord
from veil.words.planning import WordPlan
from veil.words.profiles import made_up_words
from veil.words.word_batch import WordBatch


def preview_words(plan: WordPlan, examples: WordBatch | None = None) -> Preview | None:
    """The best mechanism of a plan on made-up words, or on public ones that were given."""
    best = plan.best
    if best.mechanism is None:
        return None
    words = made_up_words(plan.language) if examples is None else examples
    job: Job[Any] = Job.prepare(EachWord(best.mechanism), words, epsilon=plan.epsilon)
    return Preview(job, Routes.counted("Routes", words))
