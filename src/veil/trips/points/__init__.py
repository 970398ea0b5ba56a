"""From points in time to trips."""
