"""Streams of random numbers, and samplers that are exact for the laws they state."""
