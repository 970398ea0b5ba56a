"""What a release of trips might look like: the same mechanism on a made-up city of the same public size."""

from __future__ import annotations

import numpy as np

from veil.core.preview import Preview
from veil.trips.made_up import City
from veil.trips.places.grid import Grid
from veil.trips.planning import TripPlan
from veil.trips.report.views import PlaceMap
from veil.trips.requests import TripRelease

# More trips would look the same.
_MOST = 5_000
_SEED = 3


def preview_trips(plan: TripPlan) -> Preview:
    """A made-up city, and its release."""
    mechanism, number = plan.best, min(plan.trips, _MOST)
    places = mechanism.places
    assert isinstance(places, Grid)
    users = None if plan.users is None else max(1, plan.users * number // plan.trips)
    table = City.of(places, seed=_SEED).trips(number, users=users, seed=_SEED, longest=mechanism.longest)
    asked = TripRelease(
        epsilon=plan.epsilon,
        unit="trip" if mechanism.cap is None else "user",
        cap=mechanism.cap,
        times=mechanism.times,
    )
    visits = np.bincount(table.paths.codes, minlength=len(places)).astype(np.float64)
    return Preview(asked.prepare(table), PlaceMap("Map", places, visits, ()))
