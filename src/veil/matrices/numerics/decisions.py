"""Values and best policies of many decision processes at once, by solving linear systems.

Arrays carry a leading axis of draws, then states s, actions a and the states t that follow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Actions = NDArray[np.intp]

# How many roundings two values may differ by and still count as a tie.
_TIE = 32.0 * float(np.finfo(np.float64).eps)


def expected_rewards(transitions: Floats, rewards: Floats) -> Floats:
    """The mean reward of each action, [..., s, a], from rewards of a state, an action or a transition."""
    shape = transitions.shape[:-1]
    if rewards.ndim == 1:
        return np.broadcast_to(rewards[:, None], shape)
    if rewards.ndim == 2:
        return np.broadcast_to(rewards, shape)
    found: Floats = np.einsum("...sat,sat->...sa", transitions, rewards)
    return found


def values(steps: Floats, rewards: Floats, discount: float) -> Floats:
    """v = r + discount P v, solved: for each draw the matrix [s, t] and the reward [s] of its chain."""
    system = np.eye(steps.shape[-1]) - discount * steps
    return np.asarray(np.linalg.solve(system, rewards[..., None])[..., 0], dtype=np.float64)


def mixed_values(transitions: Floats, rewards: Floats, discount: float, policies: Floats) -> Floats:
    """The value [draw, s] of random policies [draw, s, a] in one process [s, a, t] with rewards [s, a]."""
    steps = np.moveaxis(np.moveaxis(policies, 1, 0) @ transitions, 0, 1)
    gains = np.einsum("dsa,sa->ds", policies, rewards)
    return values(steps, gains, discount)


def fixed_values(transitions: Floats, rewards: Floats, discount: float, policies: Actions) -> Floats:
    """The value [draw, s] of the actions [draw, s], each draw in a process of its own."""
    draws, states = np.arange(len(policies))[:, None], np.arange(policies.shape[1])
    return values(transitions[draws, states, policies], rewards[draws, states, policies], discount)


def best_policies(transitions: Floats, rewards: Floats, discount: float) -> tuple[Actions, Floats]:
    """The best actions [draw, s] and their value, by policy iteration.

    A step is taken only if it raises the sum of the values, so no policy comes twice and the iteration
    ends, whatever the rounding. Among actions that are equally good the first one is taken.
    """
    policies: Actions = rewards.argmax(axis=-1)
    found = fixed_values(transitions, rewards, discount, policies)
    open_draws = np.arange(len(policies))
    while len(open_draws):
        ahead = _look_ahead(transitions[open_draws], rewards[open_draws], discount, found[open_draws])
        now = np.take_along_axis(ahead, policies[open_draws][..., None], axis=-1)[..., 0]
        better = ahead.max(axis=-1) > now
        trial = np.where(better, ahead.argmax(axis=-1), policies[open_draws])
        its = fixed_values(transitions[open_draws], rewards[open_draws], discount, trial)
        rises = better.any(axis=-1) & (its.sum(axis=-1) > found[open_draws].sum(axis=-1))
        open_draws = open_draws[rises]
        policies[open_draws], found[open_draws] = trial[rises], its[rises]
    return _first_of_ties(transitions, rewards, discount, policies, found)


def _look_ahead(transitions: Floats, rewards: Floats, discount: float, found: Floats) -> Floats:
    """The value of taking an action once and then going on as before, [draw, s, a]."""
    draws, states, actions, _ = transitions.shape
    after = transitions.reshape(draws, states * actions, states) @ found[..., None]
    ahead: Floats = rewards + discount * after.reshape(draws, states, actions)
    return ahead


def _first_of_ties(
    transitions: Floats, rewards: Floats, discount: float, policies: Actions, found: Floats
) -> tuple[Actions, Floats]:
    """Instead of each action the first that is as good up to rounding, if the value stays what it is."""
    condition = (1.0 + discount) / (1.0 - discount)
    allowed = _TIE * condition * np.abs(found).max(axis=-1, keepdims=True)
    ahead = _look_ahead(transitions, rewards, discount, found)
    tied = ahead >= ahead.max(axis=-1, keepdims=True) - allowed[..., None]
    first: Actions = tied.argmax(axis=-1)
    its = fixed_values(transitions, rewards, discount, first)
    same = (its >= found - allowed).all(axis=-1, keepdims=True)
    return np.where(same, first, policies), np.where(same, its, found)
