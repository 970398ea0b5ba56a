"""Where privacy that was spent is written down."""
