"""The libraries that Veil is compared with, each in an environment of its own."""
