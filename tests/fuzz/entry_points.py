"""Every public entry point with arguments that are good, of which some are then replaced."""

from __future__ import annotations

from .constructors import ADJACENCIES, DOMAINS, MECHANISMS
from .verbs import RELEASES, VERBS

ENTRIES = DOMAINS + ADJACENCIES + MECHANISMS + VERBS + RELEASES
