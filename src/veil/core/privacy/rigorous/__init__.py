"""Certified enclosures of delta, by ball arithmetic (python-flint; the extra "rigorous")."""

from veil.core.privacy.rigorous.enclosure import NOTHING, Enclosure

__all__ = ["NOTHING", "Enclosure"]
