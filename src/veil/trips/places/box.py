"""The area that is looked at: a public box of latitudes and longitudes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veil.core.arrays import Floats
from veil.core.checks import items, shown, within
from veil.core.errors import InvalidArgument

# Metres in a degree of latitude, on a sphere of the mean radius of the Earth.
METRES_PER_DEGREE = 111_194.93
_EXPECTED = "south,west,north,east in degrees, such as 48.10,11.50,48.17,11.61"


@dataclass(frozen=True, slots=True)
class Box:
    """South, west, north and east in degrees. A box whose west is larger than its east crosses the date line.

    >>> box = Box.of("48.10,11.50,48.20,11.60")
    >>> round(box.height), round(box.width)
    (11119, 7419)
    """

    south: float
    west: float
    north: float
    east: float

    def __post_init__(self) -> None:
        for name, most in (("south", 90.0), ("north", 90.0), ("west", 180.0), ("east", 180.0)):
            expected = f"degrees between {-most:g} and {most:g} ({_EXPECTED})"
            value = within("box", getattr(self, name), -most, most, expected=f"{name}: {expected}")
            object.__setattr__(self, name, value)
        if not self.south < self.north:
            found = f"south {self.south:g}, north {self.north:g}"
            hint = f"The order is {_EXPECTED}."
            raise InvalidArgument("box", expected="a south below its north", found=found, hint=hint)
        if self.east == self.west:
            raise InvalidArgument("box", expected="a west other than its east", found=f"{self.west:g}")

    @classmethod
    def of(cls, given: Any) -> Box:
        """A box from text or from four numbers."""
        if isinstance(given, Box):
            return given
        parts: Sequence[Any] = given.split(",") if isinstance(given, str) else given
        numbers = items("box", parts, expected=_EXPECTED)
        try:
            degrees = [
                float(one) if isinstance(one, str) else within("box", one, expected=_EXPECTED)
                for one in numbers
            ]
        except ValueError:
            raise InvalidArgument("box", expected=_EXPECTED, found=shown(given)) from None
        if len(degrees) != 4:
            raise InvalidArgument("box", expected=_EXPECTED, found=f"{len(degrees)} numbers")
        return cls(*degrees)

    @property
    def degrees_east(self) -> float:
        """How many degrees of longitude it spans, across the date line too."""
        return (self.east - self.west) % 360.0 or 360.0

    @property
    def metres_per_degree_east(self) -> float:
        """Metres in a degree of longitude, in its middle."""
        return METRES_PER_DEGREE * math.cos(math.radians(0.5 * (self.south + self.north)))

    @property
    def height(self) -> float:
        """From south to north in metres."""
        return (self.north - self.south) * METRES_PER_DEGREE

    @property
    def width(self) -> float:
        """From west to east in metres."""
        return self.degrees_east * self.metres_per_degree_east

    def plane(self, lat: Any, lng: Any) -> tuple[Floats, Floats]:
        """Metres east of its west and north of its south."""
        east = np.mod(np.asarray(lng, dtype=np.float64) - self.west, 360.0)
        # A little west of the box is not nearly all the way round.
        east = np.where(east > 180.0 + 0.5 * self.degrees_east, east - 360.0, east)
        return east * self.metres_per_degree_east, (np.asarray(lat) - self.south) * METRES_PER_DEGREE

    def degrees(self, x: Any, y: Any) -> tuple[Floats, Floats]:
        """Latitudes and longitudes of places in metres."""
        lng = self.west + np.asarray(x, dtype=np.float64) / self.metres_per_degree_east
        return self.south + np.asarray(y) / METRES_PER_DEGREE, np.mod(lng + 180.0, 360.0) - 180.0

    def describe(self) -> list[float]:
        """Plain numbers, from which `of` makes it again."""
        return [self.south, self.west, self.north, self.east]
