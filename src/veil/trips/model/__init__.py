"""From noisy tables to a model of trips: post-processing, without further cost."""
