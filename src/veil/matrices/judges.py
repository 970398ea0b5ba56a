"""What released policies and released processes lose, each evaluated exactly in the true process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from veil.core.arrays import Floats
from veil.matrices.decisions import DecisionProcess
from veil.matrices.numerics.decisions import best_policies, expected_rewards, mixed_values, values


class Judge(Protocol):
    """What is hidden, and what released tables of it lose: the loss of each and perhaps a second one.

    scales: for each kind of loss the true figure that it is compared with.
    """

    @property
    def secret(self) -> Floats: ...

    @property
    def scales(self) -> tuple[float, ...]: ...

    def judge(self, released: Floats) -> tuple[Floats, ...]: ...


@dataclass(frozen=True)
class Policies:
    """Released policies: the return that each loses against the true one."""

    process: DecisionProcess
    secret: Floats
    law: Floats

    @cached_property
    def scales(self) -> tuple[float, ...]:
        return (self.process.expected_return(self.secret, start=self.law),)

    def judge(self, released: Floats) -> tuple[Floats, ...]:
        process = self.process
        reached = mixed_values(process.transitions, process.gains, process.discount, released)
        return (self.scales[0] - reached @ self.law,)


@dataclass(frozen=True)
class Models:
    """Released transitions: what planning with them loses, and how wrong the value they predict is."""

    process: DecisionProcess
    policy: Any
    law: Floats

    @property
    def secret(self) -> Floats:
        table: Floats = self.process.transitions
        return table

    @cached_property
    def _table(self) -> Floats:
        return self.process.policy_table(self.policy)

    @cached_property
    def _value(self) -> Floats:
        return self.process.value(self._table)

    @cached_property
    def scales(self) -> tuple[float, ...]:
        best = float(self.law @ self.process.optimal().value)
        return best, float(self.law @ np.abs(self._value))

    def judge(self, released: Floats) -> tuple[Floats, ...]:
        process = self.process
        gains = expected_rewards(released, process.rewards)
        steps = np.einsum("sa,dsat->dst", self._table, released)
        predicted = values(steps, np.einsum("sa,dsa->ds", self._table, gains), process.discount)
        planned, _ = best_policies(released, gains, process.discount)
        states = np.arange(len(process))
        reached = values(
            process.transitions[states, planned], process.gains[states, planned], process.discount
        )
        # No policy beats the best one: what is below zero is rounding.
        control = np.maximum(self.scales[0] - reached @ self.law, 0.0)
        return control, np.abs(predicted - self._value) @ self.law
