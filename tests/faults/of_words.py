"""Words, bits and graphs: positions that are never randomised, laws that are not the ones charged for."""

from tests.faults.planting import Edit
from tests.faults.registry import mutant
from veil.bits.mechanisms.bit_mechanism import BitMechanism
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.bits.samplers import flips, matrix_bernoulli
from veil.core.random import discrete, exact_choice
from veil.graphs.mechanisms import randomized_response as graph_response
from veil.graphs.mechanisms.private_graph import PrivateGraph
from veil.graphs.numerics import ladder as ladder_rules
from veil.graphs.numerics.ladder import LadderRule
from veil.graphs.samplers import ladder
from veil.words.mechanisms import exponential_words
from veil.words.mechanisms.permute_and_flip import PermuteAndFlip
from veil.words.mechanisms.sequential_words import SequentialWords
from veil.words.online_word import OnlineWord
from veil.words.samplers import noisy_max

mutant(
    "last-symbol-kept",
    "The last symbol of a free word is never randomised.",
    Edit(
        exact_choice,
        "sample_free",
        "places = np.flatnonzero(changed)",
        "changed.reshape(drawn.shape)[:, -1] = 0\n    places = np.flatnonzero(changed)",
    ),
    caught_by=(
        "tests/words/test_mechanisms.py::test_draws_follow_the_law[certified-free]",
        "tests/words/test_samplers.py::test_free_words",
    ),
)
mutant(
    "last-position-off-by-one",
    "Words at a given distance are changed in all positions but the last.",
    Edit(exact_choice, "sample_free_at_distances", "for t in range(length):", "for t in range(length - 1):"),
    caught_by=(
        "tests/bits/test_mechanisms.py::test_every_column_flips_at_its_rate_the_last_one_too[1]",
        "tests/words/test_samplers.py::test_free_words",
    ),
)
mutant(
    "one-wrong-symbol-never-drawn",
    "A symbol becomes any other one but one.",
    Edit(
        exact_choice,
        "sample_free",
        "rng.integers(1, alphabet, size=len(places))",
        "rng.integers(1, max(2, alphabet - 1), size=len(places))",
    ),
    caught_by=(
        "tests/words/test_mechanisms.py::test_draws_follow_the_law[certified-free]",
        "tests/words/test_samplers.py::test_free_words",
    ),
)
mutant(
    "sign-of-the-exponent",
    "Permute-and-flip prefers words with more errors.",
    Edit(noisy_max, "_values", "largest - cost)", "largest + cost)"),
    caught_by=(
        "tests/words/test_noisy_max.py::test_law",
        "tests/words/test_mechanisms.py::test_draws_follow_the_law[permute-and-flip-free]",
    ),
)
mutant(
    "permute-and-flip-at-twice-the-rate",
    "Permute-and-flip spends all of epsilon on the score, none on the words that are not there.",
    Edit(PermuteAndFlip, "rate", "/ (2 * self.radius)", "/ self.radius"),
    Edit(PermuteAndFlip, "loss", "2 * radius", "radius"),
    caught_by=(
        "tests/words/test_mechanisms.py::test_audits_find_no_violation_and_find_a_liar[permute-and-flip-free]",
    ),
)
mutant(
    "normaliser-taken-for-constant",
    "The rate of the exponential mechanism is that of free words, whatever the language.",
    Edit(
        exponential_words,
        "_certified",
        "return certified_decay(language.graph, epsilon, radius, shorter=shorter)",
        "return decay_within(Fraction(epsilon) / radius), epsilon",
    ),
    caught_by=(
        "tests/words/test_mechanisms.py::test_audits_find_no_violation_and_find_a_liar[certified-chain]",
        "tests/words/test_mechanisms.py::test_privacy_of_random_languages",
    ),
)
mutant(
    "first-symbol-online",
    "The first symbol of a word that is released online is handed out as it is.",
    Edit(
        OnlineWord,
        "_answer",
        "else self._decay for",
        "else self._decay * min(position, 1) for",
    ),
    caught_by=("tests/words/test_online.py::test_the_law_is_that_of_the_whole_word[chain]",),
)
mutant(
    "last-column-never-flipped",
    "Randomised response leaves the last column of a table as it is.",
    Edit(
        RandomizedResponse,
        "draw_noise",
        ".reshape(times, rows, columns)",
        ".reshape(times, rows, columns) & (np.arange(columns) < columns - 1)",
    ),
    caught_by=("tests/bits/test_mechanisms.py::test_every_bit_of_a_table_flips_at_the_rate",),
)
mutant(
    "last-pair-never-flipped",
    "The last pair of nodes of a graph is never flipped.",
    Edit(
        graph_response.RandomizedResponse,
        "draw_graphs",
        "- place * pairs",
        "- place * pairs\n            own = own[own < pairs - 1]",
    ),
    caught_by=("tests/bits/test_mechanisms.py::test_every_pair_of_a_graph_flips_at_the_rate[loops-800-1.8]",),
)
mutant(
    "edges-never-taken-away",
    "Flips add edges to a graph and never take one away.",
    Edit(graph_response, "xor_codes", "return both[alone]", "return np.unique(both)"),
    caught_by=(
        "tests/bits/test_mechanisms.py::test_every_pair_of_a_graph_flips_at_the_rate[directed-800-1.8]",
    ),
)
mutant(
    "one-noise-for-all-rows",
    "All records of a table get the same flips, so that two of them XORed give their true difference.",
    Edit(
        BitMechanism,
        "_draw",
        "rows ^ noise",
        "rows ^ noise[:, :1]",
    ),
    caught_by=("tests/bits/test_mechanisms.py::test_every_column_flips_at_its_rate_the_last_one_too[1]",),
)
mutant(
    "staircase-without-the-shared-coin",
    "Each bit of a record is flipped on its own at the staircase's rate: right one by one, not together.",
    Edit(
        StaircaseXor,
        "draw_noise",
        "drawn = sample_free_by_distance(rng, words=none, alphabet=2, law=self.law)",
        "drawn = rng.random(none.shape) < self.flip_rate",
    ),
    caught_by=("tests/bits/test_mechanisms.py::test_the_staircase_is_drawn_from_its_law",),
)
mutant(
    "last-place-of-the-gaps",
    "Flips that are drawn by their gaps never reach the last place.",
    Edit(flips, "_by_gaps", "np.searchsorted(flips, count)", "np.searchsorted(flips, count - 1)"),
    caught_by=("tests/bits/test_flips.py::test_the_last_place_is_flipped_too",),
)
mutant(
    "sign-of-the-coupling",
    "Rows of matrix-valued Bernoulli noise repel where they should attract each other.",
    Edit(
        matrix_bernoulli,
        "sample_by_columns",
        "ones_of_column(rows, diagonal, between)",
        "ones_of_column(rows, diagonal, -between)",
    ),
    caught_by=(
        "tests/bits/test_matrix_bernoulli.py::test_sampler_has_the_law_and_the_test_sees_another[columns-10000-0.3]",
        "tests/bits/test_matrix_bernoulli.py::test_exchangeable_columns_agree_with_the_table_of_a_column",
    ),
)
mutant(
    "zero-twice-as-likely",
    "A zero with a minus sign is kept: geometric noise is nought twice as often as it should be.",
    Edit(discrete, "_discrete_laplace", "if size:\n            return -size", "return -size"),
    caught_by=(
        "tests/core/test_discrete_fast.py::test_one_laplace_draw_by_enumeration[1]",
        "tests/core/test_discrete_fast.py::test_one_by_one_has_the_same_distribution[1.0]",
    ),
)
mutant(
    "ladder-off-by-one",
    "The rungs above the count begin one number too early.",
    Edit(ladder, "sample_ladder", "inner + 1 + places - width", "inner + places - width"),
    caught_by=("tests/graphs/test_ladder_sampler.py::test_law[wide]",),
)
mutant(
    "ladder-of-one-distance",
    "The ladder of the triangles is as wide as the local sensitivity of this very graph, at all distances.",
    Edit(
        LadderRule,
        "ladder",
        "np.arange(sensitivity.settled() + 1, dtype=np.int64)",
        "np.zeros(1, dtype=np.int64)",
    ),
    caught_by=("tests/graphs/numerics/test_ladder.py::test_privacy_by_enumeration[1-0.0-1.0]",),
)
mutant(
    "ladder-normaliser-forgotten",
    "The decay of the ladder takes the normaliser for the same on all graphs.",
    Edit(ladder_rules, "_factor", "if floor >= nodes - 2:", "if True:"),
    caught_by=("tests/graphs/numerics/test_ladder.py::test_privacy_by_enumeration[1-0.0-1.0]",),
)
mutant(
    "graph-given-the-whole-budget",
    "Randomised response of a graph gets all of epsilon, and the facts beside it their share once more.",
    Edit(
        PrivateGraph,
        "costs",
        "total - sum(map(Fraction, parts.values()), Fraction(0))",
        "total",
    ),
    caught_by=("tests/bits/test_mechanisms.py::test_the_budget_is_divided_and_adds_up",),
)
mutant(
    "radius-of-words-ignored",
    "Sequential words are drawn, and certified, as if neighbours differed in one symbol.",
    Edit(SequentialWords, "decay", " / self.radius", ""),
    Edit(SequentialWords, "loss", "rate_above(self.decay), radius)", "rate_above(self.decay), 1)"),
    caught_by=("tests/words/test_mechanisms.py::test_privacy_at_a_fork[sequential-2.0]",),
)
