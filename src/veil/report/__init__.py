"""Pages, sections, shared figures and console parts."""
