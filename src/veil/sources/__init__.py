"""From files and streams to domain values."""
