"""The books: sums that drift, limits that do not hold, edits that do not show."""

from tests.faults.planting import Edit
from tests.faults.registry import mutant
from veil.core.privacy import renyi
from veil.ledger import accounting, amounts, chain, keys, writing
from veil.ledger.accounting import Rule
from veil.ledger.amounts import Amount
from veil.ledger.balance import Balance
from veil.ledger.batch import Batch
from veil.ledger.dataset import Dataset
from veil.ledger.replay import Replay
from veil.ledger.store import Store
from veil.ledger.terms import Terms

mutant(
    "sums-in-floats",
    "Amounts are added as floats, so that ten tenths are not one.",
    Edit(Amount, "__add__", "_EXACT.add(self, known)", "float(self) + float(known)"),
    caught_by=("tests/ledger/test_exact_amounts.py::test_sums_are_exact",),
)
mutant(
    "computed-charges-rounded-down",
    "A charge that was computed is charged as the decimal below it.",
    Edit(amounts, "charged", "_CEILING.plus(max(exact, amount))", "_CEILING.next_minus(min(exact, amount))"),
    caught_by=("tests/ledger/test_exact_amounts.py::test_a_computed_charge_is_never_less",),
)
mutant(
    "one-limit-is-enough",
    "A charge is accepted where either epsilon or delta is within its limit.",
    Edit(Rule, "fits", 'self.name == "renyi"', "True"),
    caught_by=("tests/ledger/test_charging.py::test_delta_has_a_limit_of_its_own[sqlite]",),
)
mutant(
    "charges-that-do-not-count",
    "A reservation is written down but not added to the total.",
    Edit(Dataset, "reserve_charge", "| planned, after", "| planned, balance"),
    caught_by=("tests/ledger/test_charging.py::test_the_refusal_says_all[sqlite]",),
)
mutant(
    "closed-but-not-shut",
    "A dataset that was closed is charged all the same.",
    Edit(Dataset, "_check_open", "if terms.closed:", "if False:"),
    caught_by=("tests/ledger/test_charging.py::test_a_closed_dataset[sqlite]",),
)
mutant(
    "any-neighbours-will-do",
    "A release may hide less than what the dataset was opened for.",
    Edit(Terms, "check", "if adjacency is None or not adjacency.covers(stated):", "if adjacency is None:"),
    caught_by=("tests/ledger/test_order.py::test_what_must_be_hidden[sqlite]",),
)
mutant(
    "one-who-moves-counts-once",
    "Releases from a part count for one record, though neighbours replace one.",
    Edit(Balance, "taken", "part is None or not self.moves", "True"),
    caught_by=("tests/ledger/test_parts.py::test_balances",),
)
mutant(
    "parts-cost-nothing",
    "What was released from parts is left out of the total.",
    Edit(Balance, "totals", "self._worst_part() if part is None", "{} if part is None"),
    caught_by=("tests/ledger/test_parts.py::test_balances",),
)
mutant(
    "a-generous-filter",
    "The zCDP budget is a tenth larger than (epsilon, delta) has room for.",
    Edit(renyi, "rho_within", "return float_below", "return 1.1 * float_below"),
    caught_by=("tests/ledger/test_filters.py::test_the_limit_of_zcdp",),
)
mutant(
    "all-of-delta-for-every-order",
    "Each of several orders is given the whole delta, though which one holds depends on the outputs.",
    Edit(accounting, "_order_limits", "share = float_below(Fraction(delta) / len(kept))", "share = delta"),
    caught_by=("tests/ledger/test_filters.py::test_the_limits_of_renyi",),
)
mutant(
    "a-batch-for-any-cap",
    "A batch that was worked out for one transition a user lets fifty through.",
    Edit(Batch, "reserve_charge", " or near.reach > hidden.reach", ""),
    caught_by=("tests/ledger/test_attacks.py::test_a_batch_of_users_with_a_smaller_cap",),
)
mutant(
    "edits-that-do-not-show",
    "Entries are not compared with their hashes.",
    Edit(chain, "_parsed", "if digest(row.body) != row.sha256:", "if False:"),
    caught_by=("tests/ledger/test_append_only.py::test_every_edit_shows[a changed hash]",),
)
mutant(
    "links-that-are-not-looked-at",
    "Nobody looks whether an entry follows the one before it.",
    Edit(Replay, "_follows", "if entry.previous != (NOTHING if last is None else last.sha256):", "if False:"),
    caught_by=("tests/ledger/test_append_only.py::test_every_edit_shows[another time, with its hash]",),
)
mutant(
    "a-row-that-is-believed",
    "The row of a dataset is believed, whatever its entries say.",
    Edit(chain, "locked_entry", "(row.number, row.sha256) != (last.number, last.sha256)", "False"),
    caught_by=("tests/ledger/test_attacks.py::test_totals_that_were_set_back[sqlite]",),
)
mutant(
    "charges-that-say-what-they-like",
    "A charge may cost less than it states.",
    Edit(Replay, "_as_stated", 'if cost["epsilon"] < Amount(content["epsilon"])', "if False"),
    caught_by=(
        "tests/ledger/test_forged_histories.py::test_forged_entries_do_not_verify"
        "[a charge of 5 that costs nothing]",
    ),
)
mutant(
    "terms-that-change-by-the-way",
    "An entry that raises a budget may change anything else in its terms.",
    Edit(Replay, "_changed", "if lawful != after or", "if"),
    caught_by=(
        "tests/ledger/test_forged_histories.py::test_forged_entries_do_not_verify[neighbours dropped]",
    ),
)
mutant(
    "a-machine-that-forgets",
    "What this machine has seen of a ledger is not compared with it.",
    Edit(writing, "check_seen", "seen = store.marks.seen(ledger, dataset)", "seen = None"),
    caught_by=("tests/ledger/test_marks.py::test_set_back_between_processes",),
)
mutant(
    "codes-that-are-not-compared",
    "Any code passes for that of the key.",
    Edit(keys, "is_authentic", "return hmac.compare_digest(", "return bool(mac) or hmac.compare_digest("),
    caught_by=("tests/ledger/test_keys.py::test_a_forged_entry_is_refused",),
)
mutant(
    "a-second-name",
    "A file with two names is taken.",
    Edit(Store, "_look_at", "if status.st_nlink > 1:", "if False:"),
    caught_by=("tests/ledger/test_one_file.py::test_a_second_name_of_the_file_is_refused",),
)
