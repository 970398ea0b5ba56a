"""Every public entry point with arguments that are good, of which some are then replaced."""

from __future__ import annotations

from . import constructors, verbs
from . import trip_entries as trips

DOMAINS = (*constructors.DOMAINS, *trips.PLACES, *trips.TABLES)
ADJACENCIES = (*constructors.ADJACENCIES, *trips.ADJACENCIES)
MECHANISMS = (*constructors.MECHANISMS, *trips.MECHANISMS)
VERBS = (*verbs.VERBS, *trips.VERBS)
RELEASES = (*verbs.RELEASES, *trips.RELEASES)
ENTRIES = DOMAINS + ADJACENCIES + MECHANISMS + VERBS + RELEASES
