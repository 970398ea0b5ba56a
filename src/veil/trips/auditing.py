"""How audits attack released trips: by the noisy tables of each draw. All else is computed from these."""

from __future__ import annotations

from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.audit.subject import AuditPair, AuditSubject, Example, Reader, entry_numbers
from veil.trips.mechanisms.private_trips import PrivateTrips
from veil.trips.paths import Paths
from veil.trips.places.grid import Grid
from veil.trips.tables import UNIT, tables_of
from veil.trips.trip_table import TripTable

_AREA = (0.0, 0.0, 0.03, 0.03)
_DRAWS = 1_500


class TripAudit(AuditSubject):
    """Audits of `PrivateTrips`."""

    def examples(self) -> list[Example]:
        grid = Grid(_AREA, 3, 3)  # type: ignore[arg-type]
        return [
            (PrivateTrips(grid, 2.0, size="large"), None),
            (PrivateTrips(grid, 2.0, size="small", times=True), None),
            (PrivateTrips(grid, 2.0, cap=3, size="large"), None),
        ]

    def pairs(self, mechanism: Any, adjacency: Any) -> list[AuditPair]:
        """A trip, or somebody's trips, more: short ones, long ones, at the border and back again."""
        last = len(mechanism.places) - 1
        way = mechanism.places.walk(0, last)
        back_and_forth = [[0, *way, last, *way[::-1]] * 3 + [0]]
        trips = {"across the area": [[0, last]], "in one place": [[last]], "back and forth": back_and_forth}
        if mechanism.cap is not None:
            trips["as many as are counted, across the area"] = [[0, last]] * mechanism.cap
            trips["more than are counted, in one place"] = [[last]] * (3 * mechanism.cap)
        pairs = []
        for name, more in trips.items():
            for where, others in (
                ("alone", []),
                ("in a crowd", [[place, last - place] for place in range(last)] * 3),
            ):
                one = _table(mechanism, [*others, *more], len(others))
                pairs.append(AuditPair(f"trips {name}, {where}", one, _table(mechanism, others, len(others))))
        return pairs

    def apart(self, mechanism: Any, adjacency: Any, first: Any, second: Any) -> str:
        if adjacency != mechanism.adjacency:
            return "another relation"
        names = [*mechanism.shares("small"), *mechanism.shares("large")]
        one, other = (
            tables_of(side.counted(cap=mechanism.cap, salt="0"), mechanism.layout, names)
            for side in (first, second)
        )
        far = [name for name in one if int(np.abs(one[name] - other[name]).sum()) > UNIT]
        return f"more than one trip or user in {', '.join(far)}" if far else ""

    def size(self, mechanism: Any, valid: Any) -> int:
        return sum(int(np.prod(mechanism.layout.shapes[name])) for name in mechanism.shares("large"))

    def samples(self, mechanism: Any) -> int:
        return _DRAWS

    def reader(self, mechanism: Any, value: Any, neighbour: Any) -> Reader:
        sides = [mechanism.validate(one) for one in (value, neighbour)]

        def read(draws: Any) -> Floats:
            names = list(draws[0])
            counted = [
                tables_of(side.counted(cap=mechanism.cap, salt="0"), mechanism.layout, names)
                for side in sides
            ]
            scales = mechanism.scales(draws[0])
            columns, likelier = [], np.zeros(len(draws))
            for name in names:
                one, other = (side[name].ravel() / UNIT for side in counted)
                drawn = (
                    np.array([draw[name] for draw in draws], dtype=np.float64).reshape(len(draws), -1) / UNIT
                )
                columns += entry_numbers(drawn, one, other)
                likelier += (np.abs(drawn - other) - np.abs(drawn - one)).sum(axis=1) / scales[name]
            return np.hstack([*columns, likelier[:, None]])

        return read


def _table(mechanism: Any, trips: list[list[int]], others: int) -> TripTable:
    """Trips of which those after the first ones are of one more user; each of the others has one."""
    users = np.minimum(np.arange(len(trips)), others)
    start: Floats = 3_600.0 * (np.arange(len(trips), dtype=np.float64) % 24)
    return TripTable(mechanism.places, Paths.of(trips), users, start, start + 600.0, mechanism.longest)
