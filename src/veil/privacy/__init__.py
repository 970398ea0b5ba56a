"""What a mechanism guarantees: profiles, their composition, and calibration to a budget."""
