"""Neighbours made from the sentence that users read, and a search for the pair that is told apart best.

A generator edits the data as `adjacency.words` says and asks nothing of Veil's own reductions: no
sensitivities, no worst pairs, no numbers of contributions. The divergence of a pair that is found is computed
by other means than Veil's, as an enclosure or a lower bound that is certain, and must not exceed what the
mechanism's profile claims.
"""
