"""Too small a change between neighbours is charged for."""

from tests.faults.planting import Edit
from tests.faults.registry import mutant
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.bits.mechanisms.xor import XorBlocks
from veil.chains.adjacency import Transitions
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.graphs.mechanisms import private_graph, xor_graph
from veil.matrices import row_profiles as rows
from veil.matrices.adjacency import Rectangle
from veil.vectors import contribution_profiles as contributions
from veil.vectors.mechanisms.additive import Gaussian, Laplace
from veil.vectors.mechanisms.dirichlet_counts import DirichletCounts
from veil.vectors.mechanisms.noisy_counts import GeometricCounts
from veil.vectors.simplex import Transfer
from veil.words.mechanisms.each_word import EachWord
from veil.words.mechanisms.word_mechanism import WordMechanism

mutant(
    "replaced-charged-as-added",
    "A replaced record is charged as one that is added, in Dirichlet rows of counts.",
    Edit(DirichletCounts, "profile", 'if change == Records("replace"):', "if False:"),
    caught_by=(
        "tests/vectors/test_dirichlet_counts.py::test_replaced_record_matches_the_oracle[0.5-1.0-0.7]",
    ),
)
mutant(
    "replaced-moves-one-count",
    "A replaced record is taken to move one count, not two.",
    Edit(GeometricCounts, "profile", "times=added + removed", "times=1"),
    caught_by=(
        "tests/core/test_release.py::test_pure_mechanisms_need_no_delta",
        "tests/contracts/test_contract.py::test_audit_finds_no_violation[GeometricCounts, replaced]",
    ),
)
mutant(
    "one-entry-moves",
    "Laplace noise is charged for one entry that moves, though two exchange mass.",
    Edit(Laplace, "_profile", "times=2", "times=1"),
    caught_by=("tests/matrices/test_row_by_row.py::test_laplace_is_pure[1-1]",),
)
mutant(
    "l2-distance-of-one-entry",
    "Gaussian noise is charged for an L2 distance of one entry, though two exchange mass.",
    Edit(Gaussian, "_profile", "_ROOT_2 * moved", "moved"),
    caught_by=("tests/matrices/test_row_by_row.py::test_gaussian_on_one_row_is_exact[0.1]",),
)
mutant(
    "cap-ignored",
    "A user is taken to contribute one transition, whatever the cap.",
    Edit(Transitions, "on", "most = cap or self.cap or 1", "most = 1"),
    caught_by=(
        "tests/chains/test_contributions.py::test_a_user_changes_at_most_the_cap[2]",
        "tests/chains/test_private_chain.py::test_no_attack_beats_the_claim[user-gaussian]",
    ),
)
mutant(
    "removed-row-closes-no-gap",
    "A row that goes is taken to take two transitions with it and to leave none.",
    Edit(Transitions, "on", "Contributions(2, 1) if", "Contributions(2, 0) if"),
    caught_by=("tests/chains/test_contributions.py::test_no_row_changes_more_transitions_than_is_charged",),
)
mutant(
    "records-spread-out",
    "The records of one contributor are taken to fall into different cells, not all into one.",
    Edit(
        contributions,
        "gaussian_contributions",
        "change.added**2 + change.removed**2",
        "change.added + change.removed",
    ),
    caught_by=(
        "tests/vectors/test_contribution_profiles.py::test_gaussian_is_not_below_the_truth[change1-0.4]",
    ),
)
mutant(
    "one-changed-row",
    "A matrix of which several rows change is charged for the worst row alone, as printed in the paper.",
    Edit(rows, "changed_rows", "if changed == 1 or total == 1:", "if True:"),
    caught_by=("tests/matrices/test_matrix_dirichlet.py::test_changed_rows_compose[2-epsilons0]",),
)
mutant(
    "rectangle-in-one-row",
    "A rectangle of a doubly stochastic matrix is taken to lie in one row, not two.",
    Edit(Rectangle, "exchange", "return self.mass, 2", "return self.mass, 1"),
    caught_by=("tests/matrices/test_doubly_stochastic.py::test_laplace_profile_is_pure[0.04-0.01]",),
)
mutant(
    "words-of-a-person-counted-once",
    "Several words of one person are charged as one.",
    Edit(EachWord, "profile", "times=near.words_each", "times=1"),
    caught_by=("tests/words/test_mechanisms.py::test_words_each_adds_up",),
)
mutant(
    "radius-of-the-claim-ignored",
    "A word mechanism claims its own epsilon for neighbours further apart than it was built for.",
    Edit(WordMechanism, "profile", "own = near.radius == self.radius", "own = True"),
    caught_by=(
        "tests/words/test_mechanisms.py::test_two_changes_are_not_twice_one_change",
        "tests/words/test_word_release.py::test_other_adjacencies_are_charged_for",
    ),
)
mutant(
    "half-a-record-replaced",
    "One of n records is taken to move half of its share.",
    Edit(Transfer, "from_records", "Fraction(1, _count(n))", "Fraction(1, 2 * _count(n))"),
    caught_by=(
        "tests/core/test_adjacency.py::test_constructors_of_a_transfer",
        "tests/vectors/test_dirichlet.py::test_grade_example",
    ),
)
mutant(
    "blocks-side-by-side-do-not-add",
    "Of the blocks that a record goes through only the dearest is charged.",
    Edit(
        XorBlocks,
        "loss",
        "_spread(band, near) for band in self.bands",
        "_spread([block], near) for band in self.bands for block in band",
    ),
    caught_by=("tests/bits/test_mechanisms.py::test_blocks_add_side_by_side_and_not_one_below_the_other",),
)
mutant(
    "edge-is-one-bit-of-the-matrix",
    "An edge is taken for one bit of the adjacency matrix, though both halves are released.",
    Edit(xor_graph, "_in_matrix", "2 * near.count", "near.count"),
    caught_by=(
        "tests/bits/test_mechanisms.py::test_algorithm_3_costs_two_bits_an_edge",
        "tests/bits/test_mechanisms.py::test_the_law_of_algorithm_3_is_as_private_as_certified",
    ),
)
mutant(
    "staircase-costs-one-step",
    "The staircase is charged one step down, however many bits differ.",
    Edit(StaircaseXor, "_drops", "int((levels[count:] - levels[:-count]).max())", "1"),
    caught_by=("tests/bits/test_mechanisms.py::test_the_loss_of_the_staircase_is_that_of_brute_force[1]",),
)
mutant(
    "degrees-move-by-one",
    "An edge is taken to change the profile of the degrees by one, not by two.",
    Edit(private_graph, "_noisy_degrees", "L1_SENSITIVITY / Fraction(epsilon)", "1 / Fraction(epsilon)"),
    caught_by=(
        "tests/faults/test_watch_facts.py::test_noise_is_as_wide_as_what_an_edge_moves[degrees-_degrees-2]",
    ),
)
mutant(
    "strata-of-a-replaced-user",
    "A user who is replaced is taken to stay in the same stratum.",
    Edit(
        PrivateChain,
        "profile",
        "[one.compose(two) for one, two in combinations_with_replacement(each, 2)]",
        "[one for one, two in combinations_with_replacement(each, 2)]",
    ),
    caught_by=("tests/chains/test_private_chain.py::test_a_user_who_moves_between_strata",),
)
mutant(
    "dearest-table-alone",
    "Of the tables of a chain the dearest alone is charged, though a user is in all of them.",
    Edit(
        PrivateChain,
        "profile",
        "reduce(lambda one, other: one.compose(other), profiles)",
        "worst_of(profiles)",
    ),
    caught_by=(
        "tests/chains/test_private_chain.py::test_tables_of_different_kinds_add_up",
        "tests/chains/test_private_chain.py::test_attack_on_several_tables_at_once",
    ),
)
