"""Chains of many states by their clusters: a heat map in their order, and flows between them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veil.core.arrays import Floats
from veil.core.numerics.communities import communities
from veil.report.figures import axes_of, short_labels, svg
from veil.report.networks import flow_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Clusters that have a name of their own; the states of all others are in one more.
_MOST_CLUSTERS = 8
# Cells with a text of their own under the pointer, the likeliest ones.
_MOST_TITLES = 1_500
_LIKELIEST = 3


class Cluster(NamedTuple):
    """States between which the chain mostly moves, the busiest first; share: of all transitions from them."""

    name: str
    states: tuple[str, ...]
    share: float


class Clusters(NamedTuple):
    """The clusters of a chain. order: of all states, cluster by cluster."""

    found: tuple[Cluster, ...]
    order: NDArray[np.int64]
    flows: Floats

    @classmethod
    def of(cls, joint: Floats, labels: Sequence[str]) -> Clusters:
        """joint: the share of each transition among all, or any weights like it."""
        member = np.minimum(communities(joint), _MOST_CLUSTERS)
        leaving = joint.sum(axis=1)
        order = np.lexsort((-leaving, member))
        count = int(member.max()) + 1
        inside = np.zeros((len(member), count))
        inside[np.arange(len(member)), member] = 1.0
        found = []
        for group in range(count):
            names = [labels[i] for i in order if member[i] == group]
            called = "all others" if group == _MOST_CLUSTERS else f"{group + 1}: {names[0]}"
            share = float(leaving[member == group].sum() / max(float(leaving.sum()), 1e-300))
            found.append(Cluster(called, tuple(names), share))
        return cls(tuple(found), np.asarray(order), inside.T @ joint @ inside)

    def heat_figure(self, matrix: Floats) -> Figure:
        """The matrix in colours, states in the order of their clusters, with lines between these."""
        from matplotlib.colors import PowerNorm

        figure, axes = axes_of(8.4, 7.2)
        shown = matrix[np.ix_(self.order, self.order)]
        norm = PowerNorm(0.5, 0.0, max(float(shown.max()), 1e-9))
        image = axes.imshow(shown, cmap="cividis", norm=norm, aspect="auto", interpolation="nearest")
        sizes = np.array([len(cluster.states) for cluster in self.found])
        ends = np.cumsum(sizes)
        for end in ends[:-1]:
            axes.axhline(end - 0.5, color="white", linewidth=1.2)
            axes.axvline(end - 0.5, color="white", linewidth=1.2)
        # Names only where there is room for them.
        named = sizes >= 0.025 * len(shown)
        middles = (ends - 0.5 * sizes - 0.5)[named]
        names = [name for name, is_named in zip(self.names, named, strict=True) if is_named]
        axes.set_yticks(middles, short_labels(names, 24), fontsize=9)
        axes.set_xticks(middles, [name.partition(":")[0] for name in names], fontsize=9)
        axes.set_xlabel("to (cluster)")
        axes.set_ylabel("from (cluster: its busiest state)")
        figure.colorbar(image, ax=axes, label="transition probability", shrink=0.85)
        return figure

    def heat_svg(self, matrix: Floats, labels: Sequence[str]) -> str:
        """The same as SVG, with names under the pointer: of each row, and of its likeliest cells."""
        figure = self.heat_figure(matrix)
        text = svg(figure)
        titles = _titles(
            figure.axes[0], matrix[np.ix_(self.order, self.order)], [labels[i] for i in self.order]
        )
        return text.replace("</svg>", f"{titles}</svg>")

    def flow_figure(self) -> Figure:
        return flow_figure(self.flows, self.names, "transitions")

    @property
    def names(self) -> list[str]:
        return [cluster.name for cluster in self.found]


def _titles(axes: Axes, matrix: Floats, labels: Sequence[str]) -> str:
    """Unseen rectangles over the axes, in points of the picture, with the text that browsers show."""
    wide, high = 72.0 * axes.figure.get_figwidth(), 72.0 * axes.figure.get_figheight()  # type: ignore[union-attr]
    box, size = axes.get_position(), len(matrix)
    left, top, across = box.x0 * wide, (1.0 - box.y1) * high, box.width * wide / size
    down = box.height * high / size
    parts = ['<g fill="none" pointer-events="all">']
    for i, row in enumerate(matrix):
        best = [j for j in np.argsort(-row, kind="stable")[:_LIKELIEST] if row[j] > 0.0]
        ways = ", ".join(f"{labels[j]} {100 * row[j]:.2g} %" for j in best)
        place = f'x="{left:.2f}" y="{top + i * down:.2f}" width="{size * across:.2f}" height="{down:.2f}"'
        parts.append(f"<rect {place}><title>{escape(f'from {labels[i]}; likeliest: {ways}')}</title></rect>")
    for cell in np.argsort(-matrix, axis=None, kind="stable")[:_MOST_TITLES]:
        i, j = divmod(int(cell), size)
        place = (
            f'x="{left + j * across:.2f}" y="{top + i * down:.2f}" width="{across:.2f}" height="{down:.2f}"'
        )
        told = f"{labels[i]} → {labels[j]}: {100 * matrix[i, j]:.2g} %"
        parts.append(f"<rect {place}><title>{escape(told)}</title></rect>")
    return "".join([*parts, "</g>"])
