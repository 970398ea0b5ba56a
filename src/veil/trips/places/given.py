"""Places as users name them: grid:500m, h3:8, a GeoJSON file, a list of points."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Any

from veil.core.checks import shown
from veil.core.errors import InvalidArgument
from veil.trips.places.box import Box
from veil.trips.places.elsewhere import WithElsewhere
from veil.trips.places.grid import Grid
from veil.trips.places.hexagons import Hexagons
from veil.trips.places.places import Places
from veil.trips.places.stations import Stations, read_stations
from veil.trips.places.zones import Zones, read_zones

_EXPECTED = "grid:500m, grid:16x16, h3:8, a GeoJSON file of zones, or a CSV file of points"
_METRES = re.compile(r"grid:(\d+(?:\.\d+)?)\s*(m|km)?")
_ROWS = re.compile(r"grid:(\d{1,5})x(\d{1,5})")
_HEXAGONS = re.compile(r"h3:(\d{1,2})")
_FORMS: Mapping[str, Any] = {"grid": Grid, "h3": Hexagons, "zones": Zones, "points": Stations}


def given_places(given: Any, box: Any, *, label: str | None = None, elsewhere: bool = False) -> Places:
    """The places that a user names.

    box: their area; it is never taken from the data. Zones and points have one of their own. label: which
    property of zones, or which column of points, is their name.
    """
    if isinstance(given, Places):
        found = given
    elif isinstance(given, str) and given.partition(":")[0] in ("grid", "h3"):
        if box is None:
            expected = "south,west,north,east in degrees: the area is public, and never taken from the data"
            raise InvalidArgument("box", expected=expected, found="none")
        found = _regular(given, Box.of(box))
    elif (isinstance(given, Mapping) and "features" in given) or (
        isinstance(given, (str, os.PathLike)) and str(given).lower().endswith((".geojson", ".json"))
    ):
        found = read_zones(given, label=label, box=box)
    elif isinstance(given, (str, os.PathLike, Mapping)) or hasattr(given, "columns"):
        found = read_stations(given, label=label, box=box)
    else:
        raise InvalidArgument("places", expected=_EXPECTED, found=shown(given))
    return WithElsewhere(found) if elsewhere and not isinstance(found, WithElsewhere) else found


def _regular(given: str, box: Box) -> Places:
    if (metres := _METRES.fullmatch(given)) is not None:
        size = float(metres[1]) * (1000.0 if metres[2] == "km" else 1.0)
        return Grid.of_size(box, size if math.isfinite(size) else 0.0)
    if (rows := _ROWS.fullmatch(given)) is not None:
        return Grid(box, int(rows[1]), int(rows[2]))
    if (level := _HEXAGONS.fullmatch(given)) is not None:
        return Hexagons.in_box(box, int(level[1]))
    raise InvalidArgument("places", expected=_EXPECTED, found=shown(given))


def places_from(description: Any) -> Places:
    """The places that `describe` described."""
    fields = dict(description) if isinstance(description, Mapping) else {}
    form, inside = fields.pop("form", None), fields.pop("elsewhere", False)
    if form not in _FORMS:
        raise InvalidArgument("places", expected=f"one of {', '.join(_FORMS)}", found=shown(form))
    try:
        places: Places = _FORMS[form].rebuilt(**fields)
    except TypeError:
        raise InvalidArgument("places", expected=f"the fields of {form}", found="others") from None
    return WithElsewhere(places) if inside is True else places
