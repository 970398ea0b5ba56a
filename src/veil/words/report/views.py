"""What can be explored of released words."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from veil.core.record import Release
from veil.report.views import Bars, Network, Routes, View
from veil.report.views.links import Links
from veil.words.codec import AttachedWords, batch

# Words that are counted for a page.
_MOST_WORDS, _MOST_SYMBOLS = 20_000, 2_000


def word_views(release: Release[Any]) -> tuple[View, ...]:
    """The words as routes, how often each symbol occurs, and what follows what."""
    if isinstance(release.value, AttachedWords):
        return ()
    words = batch(release)
    labels = list(map(str, words.labels))
    routes = Routes.counted("Routes", islice(words, _MOST_WORDS))
    visits = Bars("Visits", labels, words.shares, of="share of all symbols")
    if len(labels) > _MOST_SYMBOLS:
        return routes, visits
    steps = np.zeros((len(labels), len(labels)))
    inside = np.ones(len(words.codes), dtype=bool)
    inside[words.starts[words.lengths > 0]] = False
    after = np.flatnonzero(inside)
    np.add.at(steps, (words.codes[after - 1], words.codes[after]), 1.0)
    links = Links.of_table(labels, steps)
    return routes, Network("Network", links, of="times"), visits
