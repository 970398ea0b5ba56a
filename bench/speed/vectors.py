"""Batches of Dirichlet vectors against NumPy's own gamma draws, and whole-number noise against OpenDP's."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from bench import batch
from bench.clock import least_seconds
from bench.measure import Ratio
from bench.work import Work
from veil.core.random import discrete
from veil.core.random.streams import generator

GROUP = "Speed: vectors and noise"
DRAWS, PEER_DRAWS = 1_000_000, 20_000


def run(work: Work) -> list[Ratio]:
    """The whole release, and the draw alone, against draws that are neither certified nor cryptographic."""
    times = batch.measured(runs=work.either(3, 5))
    setting = f"{batch.VECTORS:,} vectors of {batch.ENTRIES} entries; one process"
    note = "NumPy draws from PCG64 and certifies nothing; Veil's words are cryptographic"
    dirichlet = [
        Ratio(
            GROUP,
            what,
            setting,
            times[key],
            times["dirichlet"],
            "NumPy gammas, normalised",
            "seconds",
            goal=0.5,
            note=note,
        )
        for what, key in (("Dirichlet vectors, drawn", "sample"), ("Dirichlet vectors, released", "release"))
    ]
    return dirichlet + noise(work)


def noise(work: Work) -> list[Ratio]:
    """Exact discrete noise of both kinds."""
    rng, found = generator(), []
    for kind, scale in (("laplace", 1.0), ("laplace", 1e3), ("gaussian", 1.0), ("gaussian", 1e3)):
        draw = (
            partial(discrete.sample_discrete_laplace, rng, scale=Fraction(scale), size=DRAWS)
            if kind == "laplace"
            else partial(discrete.sample_discrete_gaussian, rng, variance=Fraction(scale) ** 2, size=DRAWS)
        )
        draw()
        ours = least_seconds(draw, runs=work.either(3, 5)) / DRAWS
        what = f"exact discrete {kind.capitalize()} noise of scale {scale:g}"
        answer = work.ask("opendp", "noise", what, kind=kind, scale=scale, draws=PEER_DRAWS)
        if answer is not None:
            setting = f"{DRAWS:,} draws in one process, {PEER_DRAWS:,} of the peer; both exact, cryptographic"
            theirs = answer.seconds / PEER_DRAWS
            found.append(Ratio(GROUP, what, setting, ours, theirs, "OpenDP", "seconds a draw"))
    return found
