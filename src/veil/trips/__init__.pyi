from .adjacency import WholeTrips
from .area_flows import Flow, flows
from .made_up import City, made_up_points
from .measuring import Measures, measures
from .mechanisms.private_trips import PrivateTrips
from .model.trip_model import TripModel
from .paths import Paths
from .places.box import Box
from .places.elsewhere import WithElsewhere
from .places.grid import Grid
from .places.hexagons import Hexagons
from .places.places import Places
from .places.stations import Stations
from .places.zones import Zones
from .planning import TripPlan
from .synthetic_trips import SyntheticTrips, synthetic
from .trip_table import TripTable
from .verbs import plan, read, release

__all__ = [
    "Box",
    "City",
    "Flow",
    "Grid",
    "Hexagons",
    "Measures",
    "Paths",
    "Places",
    "PrivateTrips",
    "Stations",
    "SyntheticTrips",
    "TripModel",
    "TripPlan",
    "TripTable",
    "WholeTrips",
    "WithElsewhere",
    "Zones",
    "flows",
    "made_up_points",
    "measures",
    "plan",
    "read",
    "release",
    "synthetic",
]
