"""What the five papers say that is false, loose or conditional, each with a counterexample that runs."""
