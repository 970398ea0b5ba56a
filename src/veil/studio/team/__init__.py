"""The workbench for several people: accounts, projects, plans that are approved, one database behind it."""
