"""The only place where a sensitive value and randomness meet, and what comes out of it."""
