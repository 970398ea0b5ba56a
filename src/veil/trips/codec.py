"""The model of released trips in files: numbers of 32 bits, packed as text."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import within
from veil.core.errors import InvalidArgument
from veil.trips.mechanisms.private_trips import PrivateTrips, size_of
from veil.trips.model.routes import Routes
from veil.trips.model.times import Times
from veil.trips.model.trip_model import TripModel
from veil.trips.tables import DAYS, DURATIONS, HOURS, LENGTHS, Integers

_TIMES = ("hours", "starting", "ending", "weekdays", "durations")
_MOST = 1e18


def encode_model(model: TripModel) -> dict[str, Any]:
    """The model as plain data."""
    parts = {
        "flows": model.flows,
        "moves": model.routes.moves,
        "turns": model.routes.turns,
        "detours": model.routes.detours,
    }
    if model.times is not None:
        parts |= {name: getattr(model.times, name) for name in _TIMES}
    packed = {name: _packed(part) for name, part in parts.items()}
    return {"type": "trips", "number": model.number, "users": model.users, **packed}


def decode_model(value: Any, mechanism: PrivateTrips) -> TripModel:
    """The model of a file, checked to be one over the places of the mechanism."""
    layout, size = mechanism.layout, len(mechanism.places)
    shapes: dict[str, tuple[int, ...]] = {
        "flows": (size, size),
        "moves": layout.shapes["moves"],
        "turns": layout.shapes["turns"],
        "detours": layout.shapes["detours"],
    }
    if mechanism.times:
        blocks = layout.shapes["hours and starts"]
        shapes |= dict(
            zip(_TIMES, ((HOURS,), blocks, blocks, (DAYS,), (len(LENGTHS), len(DURATIONS))), strict=True)
        )
    found = {name: _unpacked(name, value[name], shape) for name, shape in shapes.items()}
    if not found["flows"].sum() > 0.0 or (found["flows"] * (layout.places.graph.steps < 0)).any():
        raise InvalidArgument("value", expected="trips between places that are connected", found="others")
    times = Times(*(found[name] for name in _TIMES)) if mechanism.times else None
    users = value["users"]
    if (users is None) != (mechanism.cap is None):
        raise InvalidArgument(
            "value", expected="users where they are hidden, and nowhere else", found="others"
        )
    return TripModel(
        mechanism.places,
        mechanism.longest,
        within("value", value["number"], 1.0, _MOST, expected="a number of trips"),
        None if users is None else within("value", users, 1.0, _MOST, expected="a number of users"),
        found["flows"],
        Routes(found["moves"], found["turns"], found["detours"]),
        times,
    )


def decode_tables(content: Any, mechanism: PrivateTrips) -> dict[str, Integers]:
    """The noisy tables of a file, checked to be those that the mechanism makes."""
    expected = set(mechanism.shares(size_of(content)))
    if not isinstance(content, Mapping) or set(content) != expected:
        raise InvalidArgument("tables", expected=", ".join(sorted(expected)), found="others")
    tables = {}
    for name in mechanism.shares(size_of(content)):
        table = np.array(content[name])
        if table.shape != mechanism.layout.shapes[name] or table.dtype.kind != "i":
            expected_shape = f"{name}: whole numbers of shape {mechanism.layout.shapes[name]}"
            raise InvalidArgument("tables", expected=expected_shape, found="something else")
        tables[name] = table.astype(np.int64)
    return tables


def _packed(numbers: Floats) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f4").tobytes()).decode("ascii")


def _unpacked(name: str, text: Any, shape: tuple[int, ...]) -> Floats:
    expected = f"{name}: {math.prod(shape):,} numbers of at least 0"
    size = 4 * math.prod(shape)
    if not isinstance(text, str) or len(text) != 4 * math.ceil(size / 3):
        raise InvalidArgument("value", expected=expected, found="something else")
    try:
        numbers = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").reshape(shape)
    except ValueError:
        raise InvalidArgument("value", expected=expected, found="something else") from None
    if not np.isfinite(numbers).all() or (numbers < 0.0).any():
        raise InvalidArgument("value", expected=expected, found="others")
    return numbers.astype(np.float64)
