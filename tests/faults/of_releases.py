"""The way of a release: charged late, by halves or not at all; and what must not be in the record."""

from tests.faults.planting import Edit
from tests.faults.registry import mutant
from veil.bits.kind import BitKind
from veil.chains.counting.queries import CountingQuery
from veil.chains.kind import ChainKind
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.core import job
from veil.core.job import Job
from veil.graphs.kind import GraphKind
from veil.vectors import counts, simplex
from veil.vectors.array_kind import ArrayKind
from veil.words.online_word import OnlineWord

_RESERVE = "reserve(ledger, self.charge(reproducible=reproducible))"
_RESERVED = f"entry = None if ledger is None else {_RESERVE}"

mutant(
    "charged-after-the-draw",
    "The charge is made when the value has been drawn.",
    Edit(
        Job,
        "run",
        _RESERVED,
        "entry = None",
        (("confirm(ledger, entry, kept)", f"entry = {_RESERVE}\n        confirm(ledger, entry, kept)"),),
    ),
    caught_by=(
        "tests/core/test_release.py::test_a_failure_after_the_reservation_stays_charged",
        "tests/core/test_release.py::test_a_refused_charge_draws_nothing",
    ),
)
mutant(
    "confirmed-before-the-draw",
    "A release is confirmed before anything has been drawn.",
    Edit(
        Job,
        "run",
        "    if ledger is not None:\n        confirm(ledger, entry, kept)\n",
        "",
        ((_RESERVED, f"{_RESERVED}\n    if ledger is not None:\n        confirm(ledger, entry)"),),
    ),
    caught_by=("tests/core/test_release.py::test_a_failure_after_the_reservation_stays_charged",),
)
mutant(
    "half-of-epsilon-charged",
    "The ledger is charged half of epsilon.",
    Edit(Job, "charge", "self.epsilon,", "self.epsilon / 2,"),
    caught_by=("tests/core/test_release.py::test_order_and_entry",),
)
mutant(
    "delta-not-charged",
    "The ledger is not charged the delta.",
    Edit(Job, "charge", "self.delta,", "0.0,"),
    caught_by=("tests/core/test_release.py::test_order_and_entry",),
)
mutant(
    "wrong-generator-is-charged",
    "What is handed in as a source of randomness is looked at after the charge.",
    Edit(Job, "run", "generator(rng), ", "rng, "),
    caught_by=("tests/core/test_release.py::test_bad_input_is_not_charged",),
)
mutant(
    "stated-epsilon-is-believed",
    "An epsilon that was stated is charged whether or not it covers what is revealed.",
    Edit(job, "cost", "if not profile.covers(stated, delta or 0.0):", "if False:"),
    caught_by=(
        "tests/words/test_word_release.py::test_what_is_wrong_costs_nothing[certified]",
        "tests/words/test_word_release.py::test_other_adjacencies_are_charged_for",
    ),
)
mutant(
    "charge-rounded-to-nearest",
    "The charge is rounded to twelve digits, downwards as well as upwards.",
    Edit(job, "_plain_above", "plain if epsilon <= plain <= epsilon * (1.0 + 1e-12) else epsilon", "plain"),
    caught_by=("tests/core/test_safe_rounding.py::test_a_charge_is_never_rounded_down",),
)
mutant(
    "flag-of-the-seed-lost",
    "A release that is drawn from a seed is not marked.",
    Edit(Job, "_draw", "reproducible=reproducible,\n        entry=", "reproducible=False,\n        entry="),
    caught_by=("tests/core/test_release.py::test_seeded_releases_are_marked",),
)
mutant(
    "online-word-charged-at-its-end",
    "A word that is released online is charged when its last symbol has been handed out.",
    Edit(OnlineWord, "__init__", "if ledger is not None:", "if False:"),
    Edit(
        OnlineWord,
        "push",
        "confirm(self._ledger, self.entry, self.finish())",
        "self.entry = reserve(self._ledger, Charge(self.epsilon, self.delta, self.mechanism.describe()))\n"
        "        confirm(self._ledger, self.entry, self.finish())",
    ),
    caught_by=(
        "tests/words/test_online.py::test_a_refused_charge_begins_nothing",
        "tests/words/test_online.py::test_the_charge_comes_first_and_whole",
    ),
)
mutant(
    "batch-assumption-lost",
    "A batch does not say that each of its items belongs to someone else.",
    Edit(ArrayKind, "assumptions", "*((of_batch,) if is_batch else ())", "*()"),
    caught_by=("tests/contracts/test_contract.py::test_batches_say_what_they_assume[Laplace]",),
)
mutant(
    "public-nodes-assumption-lost",
    "A released graph does not say that the list of its nodes is public.",
    Edit(
        GraphKind,
        "assumptions",
        "return (*mechanism.assumptions(adjacency), NODES_ARE_PUBLIC)",
        "return mechanism.assumptions(adjacency)",
    ),
    caught_by=("tests/bits/test_bit_release.py::test_forged_files_are_refused_or_flagged[no assumptions]",),
)
mutant(
    "public-states-assumption-lost",
    "A chain whose states were read off the data does not say that their list is public.",
    Edit(ChainKind, "assumptions", "STATES_ARE_PUBLIC: origin.states_found", "STATES_ARE_PUBLIC: False"),
    caught_by=("tests/chains/test_fit_chain.py::test_a_chain_with_the_labels_that_went_in",),
)
mutant(
    "input-in-the-tables",
    "The record keeps the value that went in.",
    Edit(
        Job,
        "_draw",
        "tables=content.tables",
        'tables=content.tables | {"checked": getattr(self.value, "codes", self.value)}',
    ),
    caught_by=("tests/faults/test_watch_records.py::test_inputs_leave_the_same_record[Dirichlet, smoothed]",),
)
mutant(
    "diagnostic-in-the-tables",
    "The record keeps how far the released vector is from the true one.",
    Edit(
        Job,
        "_draw",
        "tables=content.tables",
        'tables=content.tables | ({"distance": [abs(content.value - self.value).sum()]}'
        ' if getattr(content.value, "dtype", None) == float else {})',
    ),
    caught_by=("tests/faults/test_watch_records.py::test_inputs_leave_the_same_record[Dirichlet, smoothed]",),
)
mutant(
    "input-handed-to-the-ledger",
    "The ledger is handed the value that is to be hidden, beside the description of the mechanism.",
    Edit(
        Job,
        "charge",
        "self.mechanism.describe()",
        'self.mechanism.describe() | {"value": self.value}',
    ),
    caught_by=("tests/faults/test_watch_records.py::test_inputs_leave_the_same_record[Dirichlet, smoothed]",),
)
mutant(
    "seed-in-the-record",
    "The record names the seed, from which the noise can be taken off again.",
    Edit(Job, "_draw", "version=__version__", 'version=f"{__version__} ({stream.random()})"'),
    caught_by=(
        "tests/faults/test_watch_records.py::test_seeds_leave_the_same_record[Dirichlet, published form]",
    ),
)
mutant(
    "names-of-records-kept",
    "A released table of bits keeps the names of its records, in their order.",
    Edit(
        BitKind,
        "labels",
        "return labels_of(value), None",
        "return labels_of(value), tuple(map(str, getattr(value, 'index', ()))) or None",
    ),
    caught_by=("tests/bits/test_release_attacks.py::test_the_names_and_the_order_of_records_stay_at_home",),
)
mutant(
    "error-quotes-a-vector",
    "The error about a negative entry quotes it.",
    Edit(simplex.Simplex, "_say_what_is_wrong", '"negative"', "str(vectors.min())"),
    caught_by=("tests/contracts/test_contract.py::test_errors_do_not_quote_the_data[Laplace]",),
)
mutant(
    "error-quotes-a-count",
    "The error about a negative count quotes it.",
    Edit(counts.Counts, "validate", '"negative"', "str(rows.min())"),
    caught_by=(
        "tests/contracts/test_contract.py::test_errors_do_not_quote_the_data[GeometricCounts, replaced]",
    ),
)
mutant(
    "another-cap-is-taken",
    "Counts of which users have more transitions than the mechanism was built for are taken.",
    Edit(ChainKind, "check", "valid.cap is None or valid.cap > adjacency.cap", "False"),
    Edit(PrivateChain, "validate", "cap is None or cap > part.cap", "False"),
    caught_by=(
        "tests/chains/test_private_chain.py::test_a_release_of_counts_with_another_cap_is_refused[50-None-1]",
    ),
)
mutant(
    "one-more-than-the-cap",
    "One transition more than the cap is counted of each user.",
    Edit(CountingQuery, "sql", "draw <= {self._cap}", "draw <= {self._cap} + 1"),
    caught_by=(
        "tests/chains/test_transitions.py::test_every_transition_is_as_likely_to_be_drawn",
        "tests/chains/test_transitions.py::test_the_salt_is_secret_unless_given",
    ),
)
