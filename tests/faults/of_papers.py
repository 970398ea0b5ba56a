"""Statements of the papers with a constant changed: what each row of docs/papers.md says is tested.

STATEMENTS has the paper and item of each; tests/papers/test_negated.py checks that the row names the tests.
"""

from typing import Any

from veil_papers import (
    chain_models,
    data_driven_chains,
    dirichlet_simplex,
    hamming_automaton,
    matrix_dirichlet,
    symbolic_trajectories,
    xor_mechanism,
)

from tests.faults.planting import Edit
from tests.faults.registry import mutant
from veil.bits.mechanisms import matrix_bernoulli
from veil.bits.numerics import published_bounds as bit_bounds
from veil.graphs import planning
from veil.vectors import accuracy, published_bounds
from veil.vectors.simplex import Transfer

STATEMENTS: dict[str, tuple[str, str]] = {}
_PAPERS = {
    "DS": "dirichlet-simplex",
    "MD": "matrix-dirichlet",
    "DC": "data-driven-chains",
    "ST": "symbolic-trajectories",
    "XO": "xor",
}
_PROOFS = "tests/papers/test_numbered_proofs.py::"
_EDGES = f"{_PROOFS}test_assumptions_at_their_edges"
_PUBLISHED = "tests/vectors/test_published.py::"
_ACCURACY = "tests/vectors/test_accuracy.py::"
_MATRIX = "tests/papers/test_matrix_dirichlet.py::"
_CHAINS = "tests/papers/test_chain_models.py::"
_WORDS = "tests/papers/test_symbolic_trajectories.py::"
_XOR = "tests/papers/test_xor_mechanism.py::"


def _negated(paper: str, item: str, where: tuple[Any, str], change: tuple[str, str], *tests: str) -> None:
    name = f"{paper} {item}"
    STATEMENTS[name] = (_PAPERS[paper], item)
    mutant(name, f"{name} with another constant.", Edit(*where, *change), caught_by=tests)


_BOUND = (published_bounds, "published_bound")
_BROKEN = (published_bounds, "_violations")
_negated("DS", "Assumption 1", _BROKEN, ("outside < 0.5,", "outside < 0.49,"), f"{_EDGES}[simplex-1]")
_negated("DS", "Assumption 2", _BROKEN, ("lowest >= 1.0", "lowest >= 0.9"), f"{_EDGES}[simplex-2]")
_negated("DS", "Assumption 3", _BROKEN, ("1.0 / entries, f", "1.1 / entries, f"), f"{_EDGES}[simplex-3]")
_negated("DS", "Lemma 4", _BROKEN, ("0.5 * (1.0 - outside)", "0.55 * (1.0 - outside)"), f"{_EDGES}[lemma-4]")
_negated(
    "DS",
    "Equation (7)",
    (published_bounds, "published_delta"),
    ("some_entry_below([(k * floor, entries)], rest", "some_entry_below([(k * floor, entries - 1)], rest"),
    f"{_PUBLISHED}test_delta_against_quadrature_over_the_vertices",
)
_negated(
    "DS",
    "Theorem 1",
    _BOUND,
    ("spread = k * mass", "spread = 1.01 * k * mass"),
    f"{_PUBLISHED}test_formula_by_hand",
)
_negated(
    "DS", "Corollary 1", _BOUND, ("- 3.0 + spread", "- 2.9 + spread"), f"{_PUBLISHED}test_formula_by_hand"
)
_negated(
    "DS",
    "Theorem 2",
    (Transfer, "from_average"),
    ("/ _count(n)", "/ (_count(n) + 1)"),
    "tests/papers/test_simplex_queries.py::test_corollaries_2_and_3",
)
_negated(
    "DS",
    "Theorem 3",
    (Transfer, "from_linear"),
    (" * Fraction(alpha)", " * Fraction(alpha) / 2"),
    "tests/papers/test_simplex_queries.py::test_corollaries_2_and_3",
)
_negated(
    "DS",
    "Lemma 5",
    (dirichlet_simplex, "lemma_5"),
    ("math.exp(2.0 - a - b)", "math.exp(2.1 - a - b)"),
    "tests/papers/test_dirichlet_simplex.py::test_lemma_5_holds_above_one_half",
)
_negated(
    "DS",
    "Proposition 1",
    (accuracy, "dirichlet_errors"),
    ("/ (total + 1.0)", "/ total"),
    f"{_PROOFS}test_proposition_1_and_remark_4_by_hand",
)
_negated(
    "DS",
    "Remark 4",
    (matrix_dirichlet, "theorem_2_squared"),
    ("(4.0 *", "(3.9 *"),
    f"{_PROOFS}test_proposition_1_and_remark_4_by_hand",
)
_negated(
    "DS",
    "Theorem 4",
    (accuracy, "published_concentration"),
    ("(2.0 *", "(1.9 *"),
    "tests/vectors/test_intervals.py::test_published_concentration_is_false",
)
_negated(
    "MD",
    "Equation (15)",
    (accuracy, "largest_expected_entry_error"),
    ("(1.0 - k)", "(1.1 - k)"),
    f"{_MATRIX}test_theorem_2",
)
_negated(
    "MD",
    "Equation (16)",
    (matrix_dirichlet, "theorem_2_squared"),
    ("(4.0 *", "(4.1 *"),
    f"{_MATRIX}test_theorem_2",
)
_negated(
    "MD",
    "Theorem 1",
    (published_bounds, "matrix_bound"),
    ("printed, safe = min(", "printed, safe = max("),
    "tests/matrices/test_matrix_dirichlet.py::test_published_delta_is_printed_with_the_wrong_extreme",
)
_negated(
    "MD",
    "Lemma 4",
    (matrix_dirichlet, "lemma_4"),
    ("chain.to_numpy() - other.to_numpy()).sum(axis=0)", "chain.to_numpy() - other.to_numpy()).sum(axis=1)"),
    f"{_MATRIX}test_lemma_4_is_false",
)
_negated(
    "MD",
    "Theorem 3",
    (matrix_dirichlet, "theorem_3"),
    ("theorem_2_absolute(k) + spread", "theorem_2_absolute(k) + 2.0 * spread"),
    f"{_MATRIX}test_theorem_3_columns_are_right",
)
_negated("DC", "Assumption 3", _BROKEN, ("floor < 0.25", "floor < 0.26"), f"{_EDGES}[chains-3]")
_negated("DC", "Assumption 4", _BROKEN, ("lowest >= 1.5", "lowest >= 1.48"), f"{_EDGES}[chains-4]")
_negated(
    "DC",
    "Section 3.1",
    (data_driven_chains, "smallest_epsilon"),
    ("1.5 / floor", "1.6 / floor"),
    "tests/papers/test_data_driven_chains.py::test_smallest_epsilon",
)
_negated(
    "DC",
    "Theorem 2",
    (accuracy, "expected_kl"),
    ("(xlogy(p, p) + p *", "(xlogy(p, p) + 1.1 * p *"),
    f"{_ACCURACY}test_expected_kl",
)
_negated(
    "DC",
    "Corollary 1",
    (data_driven_chains, "corollary_1"),
    ("(rest + 1.0) / records", "rest / records"),
    f"{_ACCURACY}test_corollary_1_as_printed",
)
_negated(
    "DC",
    "Lemma 7",
    (data_driven_chains, "lemma_7_entry_bound"),
    ("(k - 1.0)", "(k - 1.1)"),
    f"{_ACCURACY}test_lemmas_7_and_8",
)
_negated(
    "DC",
    "Lemma 8",
    (data_driven_chains, "lemma_8_entry_bound"),
    ("2.0 * math.exp", "2.1 * math.exp"),
    f"{_PROOFS}test_lemma_8_of_the_chains_paper_by_hand",
)
_negated(
    "DC",
    "Lemma 1",
    (chain_models, "lemma_1"),
    ("max(delta for", "min(delta for"),
    f"{_CHAINS}test_lemma_1_and_theorem_3",
)
_negated(
    "DC", "Definition 8", (chain_models, "definition_8"), ("np.log(", "np.log2("), f"{_CHAINS}test_lemma_4"
)
_negated(
    "DC",
    "Lemma 6",
    (chain_models, "lemma_6"),
    ("math.sqrt(2.0 *", "math.sqrt(2.2 *"),
    "tests/papers/test_errata.py::test_counterexample[A weighted KL cannot bound the largest row]",
)
_negated(
    "DC",
    "Theorem 4",
    (chain_models, "theorem_4"),
    ("0.5 * fundamental", "0.6 * fundamental"),
    "tests/papers/test_errata.py::test_counterexample[A theorem without a proof]",
)
_negated(
    "ST",
    "Lemma 1",
    (symbolic_trajectories, "lemma_1"),
    ("<= radius", "< radius"),
    f"{_WORDS}test_lemma_1",
)
_negated(
    "ST",
    "Equation (3)",
    (symbolic_trajectories, "phi_by_subsets"),
    ("/ (k + 1) for", "/ (k + 2) for"),
    f"{_WORDS}test_equation_5_is_permute_and_flip",
)
_negated(
    "ST",
    "Mechanism 1",
    (symbolic_trajectories, "_weights"),
    ("/ (2 * radius)", "/ (3 * radius)"),
    f"{_PROOFS}test_theorem_2_of_the_words_paper_by_hand",
)
_negated(
    "ST",
    "Theorem 2",
    (symbolic_trajectories, "theorem_2"),
    ("/ (4.0 * mean_phi)", "/ (4.1 * mean_phi)"),
    f"{_PROOFS}test_theorem_2_of_the_words_paper_by_hand",
)
_negated(
    "ST",
    "Algorithm 1",
    (hamming_automaton.DistanceAutomaton, "policy"),
    ("Fraction(count, ways)", "Fraction(count, ways + 1)"),
    "tests/papers/test_hamming_automaton.py::test_policies_add_up_to_one_and_as_printed_do_not",
)
_negated(
    "ST",
    "Section II.B",
    (hamming_automaton, "feasible_counts"),
    ("(target != symbol)", "(state != symbol)"),
    "tests/papers/test_hamming_automaton.py::test_feasible_words_are_uniform",
)
_negated(
    "XO",
    "Equation (4)",
    (bit_bounds, "condition_4"),
    ("(norm + norms)", "(norm + 2.0 * norms)"),
    "tests/bits/numerics/test_flip_losses.py::test_the_numbers_of_the_paper_are_too_small",
)
_negated(
    "XO",
    "Algorithm 1",
    (matrix_bernoulli, "xor_parameters"),
    ("(rows - 1) / 2.0", "(rows - 1) / 3.0"),
    "tests/bits/test_mechanisms.py::test_parameters_of_algorithm_1",
)
_negated(
    "XO",
    "Definition 6",
    (xor_mechanism, "square_error_rate"),
    ("/ ones", "/ (ones + 1)"),
    f"{_XOR}test_square_error_rates",
)
_negated(
    "XO",
    "Section 6",
    (xor_mechanism, "rates_after_and"),
    ("flip_rate**2", "2.0 * flip_rate**2"),
    f"{_XOR}test_rates_of_algorithm_3_by_all_noises_of_a_pair",
)
_negated(
    "XO",
    "Theorem 4",
    (planning, "edge_leakage"),
    ("odds = max(", "odds = min("),
    f"{_XOR}test_leakage_bounds_every_mechanism_and_is_attained",
)
