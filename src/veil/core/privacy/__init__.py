"""Privacy profiles, losses, composition and calibration."""
