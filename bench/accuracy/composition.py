"""What many releases cost together, and how long it takes to find out."""

from __future__ import annotations

import veil
from bench.clock import least_seconds
from bench.measure import Ratio
from bench.work import Work
from veil.core.privacy.profile import PrivacyProfile

GROUP = "Accuracy: what many releases cost together"
SCALE, DELTA = 50.0, 1e-6


def profiles() -> dict[str, tuple[PrivacyProfile, float]]:
    """One release of each kind, with its own epsilon: a count, and a vector whose two entries move."""
    geometric = veil.vectors.GeometricCounts(SCALE, 3).profile(veil.vectors.Records())
    # Two entries move by 1 / scale each.
    laplace = veil.vectors.Laplace(1.0 / SCALE, veil.vectors.Simplex(3)).profile(
        veil.vectors.Transfer(SCALE**-2)
    )
    return {"geometric": (geometric, geometric.pure_epsilon), "laplace": (laplace, laplace.pure_epsilon)}


def run(work: Work) -> list[Ratio]:
    """A hundred and a thousand releases that are declared together."""
    found = []
    for kind, (profile, each) in profiles().items():
        for times in (100, 1_000):
            epsilon = profile.repeat(times).epsilon(DELTA)
            what = f"{times:,} releases with {kind} noise, {each:g} each"
            setting = f"the certified epsilon at delta {DELTA:g}"
            found.append(Ratio(GROUP, what, setting, epsilon, times * each, "adding them up", "epsilon"))

            def ours(profile: PrivacyProfile = profile, times: int = times) -> float:
                return profile.repeat(times).epsilon(DELTA)

            seconds = least_seconds(ours, runs=work.either(3, 7))
            moved = 1 if kind == "geometric" else 2
            answer = work.ask(
                "dp-accounting",
                "composition",
                what,
                kind=kind,
                scale=SCALE,
                delta=DELTA,
                times=moved * times,
                runs=work.either(2, 5),
            )
            if answer is not None:
                peer = "dp-accounting's loss distributions"
                found += [
                    Ratio(GROUP, what, setting, epsilon, answer.numbers["epsilon"], peer, "epsilon"),
                    Ratio(GROUP, f"{what}: time", setting, seconds, answer.seconds, peer, "seconds"),
                ]
    return found
