"""Draw the pictures of the documentation: `python docs/pictures/make.py`. Same bytes every time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import veil

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#e69f00", "#009e73", "#8c8c8c"
GRADES = ("A", "B", "C", "D", "F")
BEFORE = (31, 28, 21, 10, 8)

plt.rcParams.update(
    {
        "svg.hashsalt": "veil",
        "svg.fonttype": "path",
        "font.family": "DejaVu Sans",
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)


def bars(ax: Axes, heights: tuple[float, ...], changed: dict[int, str], labels: tuple[str, ...]) -> None:
    colours = [changed.get(i, BLUE) for i in range(len(heights))]
    shown = ax.bar(range(len(heights)), heights, color=colours, width=0.7)
    ax.bar_label(shown, labels=[f"{height:g}" for height in heights], padding=2)
    ax.set_xticks(range(len(heights)), labels)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_ylim(0, 1.25 * max(heights))


def side_by_side(
    first: tuple[float, ...],
    second: tuple[float, ...],
    changed: dict[int, str],
    titles: tuple[str, str],
    labels: tuple[str, ...] = GRADES,
) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
    bars(left, first, changed, labels)
    bars(right, second, changed, labels)
    left.set_title(titles[0])
    right.set_title(titles[1])
    return figure


def replaced() -> Figure:
    after = (30, 29, 21, 10, 8)
    return side_by_side(BEFORE, after, {0: ORANGE, 1: GREEN}, ("98 records", "98 records: one A became a B"))


def added_or_removed() -> Figure:
    after = (31, 28, 21, 10, 7)
    return side_by_side(BEFORE, after, {4: ORANGE}, ("98 records", "97 records: one F is gone"))


def exchange() -> Figure:
    first, second = (0.40, 0.30, 0.20, 0.10), (0.35, 0.30, 0.20, 0.15)
    titles = ("a secret vector", "its neighbour: 0.05 moved")
    return side_by_side(first, second, {0: ORANGE, 3: GREEN}, titles, ("1", "2", "3", "4"))


def guessing() -> Figure:
    import numpy as np

    epsilon = np.linspace(0.0, 6.0, 200)
    figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
    ax.plot(epsilon, 100.0 / (1.0 + np.exp(-epsilon)), color=BLUE, linewidth=2)
    ax.plot([0.8, 6.0], [50, 50], color=GREY, linewidth=1, linestyle="--")
    ax.text(5.95, 51.5, "blind guessing", color="#555555", ha="right")
    for e in (0.1, 0.5, 1.0, 2.0, 3.0):
        rate = 100.0 / (1.0 + np.exp(-e))
        ax.plot([e], [rate], "o", color=ORANGE)
        ax.annotate(f"{rate:.1f}", (e, rate), xytext=(7, -13), textcoords="offset points")
    ax.set_xlabel("epsilon (delta = 0)")
    ax.set_ylabel("right guesses in 100, at most")
    ax.set_ylim(45, 102)
    ax.set_xlim(0, 6)
    return figure


def small_k() -> Figure:
    """delta at epsilon = 2.3 for floor 0.1 and transfer 0.15, against k: it has a bottom."""
    import numpy as np

    domain, move = veil.vectors.Simplex(3, floor=0.1), veil.vectors.Transfer(0.15)
    ks = np.logspace(-3, 2, 60)
    deltas = [veil.vectors.Dirichlet(float(k), domain).profile(move).delta(2.3) for k in ks]
    figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
    ax.loglog(ks, deltas, color=BLUE, linewidth=2)
    ax.axhline(0.0925, color=ORANGE, linewidth=1.5, linestyle="--")
    ax.text(1.2e-3, 0.105, "0.0925: never below", color="#7a5500")
    ax.set_xlabel("concentration k (smaller: more noise)")
    ax.set_ylabel("delta at epsilon = 2.3")
    ax.set_ylim(0.05, 1.5)
    return figure


def grades() -> Figure:
    """A real release of the sample grades, and what is proved of it."""
    import numpy as np

    from veil.vectors.report.page import published_beside

    counts = dict(zip(GRADES, BEFORE, strict=True))
    out = veil.vectors.release(counts, records=98, epsilon=2.0, delta=1e-6, mechanism="dirichlet", rng=1)
    limits = veil.vectors.intervals(out)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    places = range(len(GRADES))
    left.bar(places, out.value, color=BLUE, width=0.62)
    left.vlines(places, limits[:, 0], limits[:, 1], color="black", linewidth=1.6)
    left.set_xticks(places, GRADES)
    left.set_ylabel("share of the class")
    left.set_title("Released grades of 98 students\n(lines: the true share, 95 % confidence)", fontsize=11)
    published = published_beside(out)
    assert published is not None
    epsilons = np.linspace(0.0, 1.1 * published.epsilon, 150)
    deltas = np.array([out.profile.delta(float(epsilon)) for epsilon in epsilons])
    kept = deltas > 1e-12
    right.semilogy(epsilons[kept], deltas[kept], color=BLUE, linewidth=2.2, label="exact guarantee (Veil)")
    right.plot([out.epsilon], [out.delta], "o", color=BLUE, markersize=8)
    right.plot(
        [published.epsilon], [published.delta], "X", color="#d55e00", markersize=10, label="published theorem"
    )
    right.set_xlim(0.0, 1.1 * published.epsilon)
    right.set_xlabel("privacy loss ε (smaller is more private)")
    right.set_ylabel("failure probability δ")
    right.set_title("The same noise, two proofs", fontsize=11)
    right.legend(frameon=False)
    return figure


def value_loss() -> Figure:
    """The maintenance example of decision-processes.md: return lost by hiding the policy."""
    from veil.matrices.report.figures import value_figure

    run = [[0.80, 0.15, 0.05, 0], [0, 0.70, 0.20, 0.10], [0, 0, 0.60, 0.40], [0, 0, 0, 1]]
    service = [[0.95, 0.05, 0, 0], [0.70, 0.25, 0.05, 0], [0.10, 0.50, 0.30, 0.10], [0, 0, 0.20, 0.80]]
    moves = list(zip(run, service, [[1, 0, 0, 0]] * 4, strict=True))
    plant = veil.matrices.DecisionProcess(
        moves, [[10, 6, -20], [9, 5, -20], [6, 2, -20], [-5, -8, -30]], 0.95
    )
    habits = [[0.90, 0.10, 0.00], [0.40, 0.55, 0.05], [0.20, 0.50, 0.30], [0.00, 0.20, 0.80]]
    found = veil.matrices.value_loss(
        plant,
        habits,
        hide="policy",
        adjacency=veil.matrices.Rows(1, veil.vectors.Transfer.from_records(500)),
        epsilons=[0.25, 0.5, 1, 2, 4, 8, 16],
        delta=1e-6,
        start=0,
        rng=7,
    )
    return value_figure(found)


def _town() -> veil.words.ChainWords:
    from veil.samples.streets import streets

    return veil.words.ChainWords(streets(), 14)


def word_errors() -> Figure:
    """Expected errors in the made-up town against epsilon, for all mechanisms."""
    from veil.words.planning import error_curves, plan_words
    from veil.words.report.figures import error_figure

    epsilons = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0]
    town = _town()
    curves = error_curves([plan_words(town, epsilon) for epsilon in epsilons])
    names = {"generic": "exponential, as published", "exponential": "exponential, certified"}
    return error_figure({names.get(name, name): curve for name, curve in curves.items()})


def word_paths() -> Figure:
    """A made-up drive and private versions of it."""
    from veil_papers.word_figures import paths_figure

    from veil.samples.streets import drives, segments, streets

    drive = next(drive for drive in drives(100, seed=3) if len(drive) == 14)
    language = veil.words.ChainWords(streets(), 14)
    shown = {}
    for epsilon, seed in ((4.0, 3), (1.0, 1)):
        mechanism = veil.words.ExponentialWords(language, epsilon)
        shown[f"private, ε = {epsilon:g}"] = mechanism.sample(drive, rng=seed)
    return paths_figure(segments(), drive, shown)


def automaton() -> Figure:
    """All words at distance 2 from abc over three letters (symbolic trajectories paper, Figure 1)."""
    from veil_papers.hamming_automaton import HammingAutomaton
    from veil_papers.word_figures import automaton_figure

    return automaton_figure(HammingAutomaton(tuple("abc"), 2, tuple("abc")))


def product_automaton() -> Figure:
    """The same for paths of a chain of four states (symbolic trajectories paper, Figure 3)."""
    from veil_papers.hamming_automaton import ProductAutomaton
    from veil_papers.word_figures import automaton_figure

    chain = {"y0": ["y1", "y2"], "y1": ["y0", "y2"], "y2": ["y1", "y3"], "y3": ["y0", "y3"]}
    return automaton_figure(ProductAutomaton(("y1", "y2", "y3"), 2, chain, "y0"))


def bit_signals() -> Figure:
    """What is left of a bit when a whole record of 16 or 30 bits is hidden."""
    import numpy as np

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    epsilons = np.geomspace(0.1, 10.0, 41)
    for ax, (columns, rows) in zip(axes, ((16, 240), (30, 426)), strict=True):
        near = veil.bits.BitFlips(columns, where="row")
        stated = [
            veil.bits.Xor(veil.bits.xor_parameters(e, 1.0, rows, columns, columns)).flip_rate
            for e in epsilons
        ]
        curves = {
            "staircase": ([veil.bits.StaircaseXor(columns, e).flip_rate for e in epsilons], BLUE, "-"),
            "each bit with ε/P": (
                [veil.bits.RandomizedResponse(e / near.count).flip_rate for e in epsilons],
                ORANGE,
                "--",
            ),
            "XOR paper, ε as stated": (stated, GREEN, ":"),
        }
        for name, (rates, colour, dash) in curves.items():
            signal = 100.0 - 200.0 * np.array(rates)
            ax.plot(epsilons, signal, color=colour, linestyle=dash, linewidth=2, label=name)
        ax.set_xscale("log")
        ax.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
        ax.set_title(f"a record of {columns} bits")
        ax.set_xlabel("ε of a whole record")
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("signal left of a bit, %")
    axes[0].legend(frameon=False)
    return figure


def classification() -> Figure | None:
    """Accuracy of classifiers trained on released records; None where the data is not at hand."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from bench.classification import VOTES, table

    if not VOTES.is_file():
        return None
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.9), layout="constrained", sharey=True)
    shown = {
        "public": ("staircase, labels public", BLUE, "-", "o"),
        "protected": ("staircase, labels hidden", GREEN, "-", "s"),
        "uncoded": ("without the code", GREY, ":", "x"),
        "pplr": ("PPLR: one model, no data", ORANGE, "--", "^"),
    }
    for ax, (name, found) in zip(axes, table().items(), strict=True):
        for method, (label, colour, dash, marker) in shown.items():
            epsilons, means, halves = (list(part) for part in zip(*found["curves"][method], strict=True))
            middle = [100 * mean for mean in means]
            ax.plot(epsilons, middle, color=colour, linestyle=dash, marker=marker, markersize=4, label=label)
            low, high = (
                [100 * (m + side * h) for m, h in zip(means, halves, strict=True)] for side in (-1, 1)
            )
            ax.fill_between(epsilons, low, high, color=colour, alpha=0.2)
        ax.axhline(100 * found["plain"][0], color="black", linewidth=1, label="not private")
        ax.axhline(100 * found["majority"], color=GREY, linewidth=0.8, linestyle="-.", label="larger class")
        ax.set_xscale("log")
        ax.set_xticks([0.1, 0.3, 1, 3, 8], ["0.1", "0.3", "1", "3", "8"])
        ax.set_title(name.capitalize())
        ax.set_xlabel("ε of a whole record")
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("accuracy, % (mean of 200 splits)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


PICTURES: dict[str, Callable[[], Figure | None]] = {
    "bit-signals": bit_signals,
    "classification": classification,
    "word-errors": word_errors,
    "word-paths": word_paths,
    "automaton": automaton,
    "product-automaton": product_automaton,
    "value-loss": value_loss,
    "grades": grades,
    "replaced": replaced,
    "added-or-removed": added_or_removed,
    "exchange": exchange,
    "guessing": guessing,
    "small-k": small_k,
}


def main(ending: str = "svg", folder: str = str(Path(__file__).parent)) -> None:
    """Draw all of them."""
    for name, draw in PICTURES.items():
        figure = draw()
        if figure is None:
            print(f"{name}: its data is not at hand")
            continue
        metadata = {"Date": None, "Creator": None} if ending == "svg" else None
        figure.savefig(Path(folder) / f"{name}.{ending}", metadata=metadata, dpi=100)
        plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:3])
