"""Random numbers that are shared, repeated or guessable."""

from tests.faults.planting import Edit, Swap
from tests.faults.registry import mutant
from veil.chains.counting.question import Question
from veil.core.job import Job
from veil.core.mechanism import Described
from veil.core.random import streams as randomness
from veil.core.random.streams import SecretStream
from veil.vectors.mechanisms.additive import _Additive
from veil.words.table import WordTable

mutant(
    "fixed-seed",
    "Without a seed the generator is that of a fixed one.",
    Edit(randomness, "generator", "return SecretStream()", "return np.random.default_rng(0)"),
    caught_by=(
        "tests/core/test_randomness.py::test_threads_share_no_stream",
        "tests/core/test_randomness.py::test_fresh_generators_never_repeat",
    ),
)
mutant(
    "same-key-for-two-calls",
    "The key of the cryptographic generator is drawn once and used for every call.",
    Edit(
        SecretStream,
        "renew",
        "secrets.randbits(128)",
        "globals().setdefault('_key', secrets.randbits(128))",
    ),
    caught_by=(
        "tests/core/test_randomness.py::test_the_key_is_fresh_and_whole",
        "tests/core/test_randomness.py::test_fresh_generators_never_repeat",
    ),
)
mutant(
    "stream-shared-after-a-fork",
    "A stream that is held goes on in a forked process where it stood in the parent.",
    Edit(SecretStream, "__init__", "_streams.add(self)", "pass"),
    caught_by=(
        "tests/core/test_randomness.py::test_a_held_stream_is_another_one_in_a_fork",
        "tests/core/test_randomness.py::test_a_fork_of_a_fork",
    ),
)
mutant(
    "copy-of-a-stream",
    "A copy or a pickle of a secret stream repeats it.",
    Edit(SecretStream, "__reduce__", "SecretStream, ()", "np.random.Generator, (self.bit_generator,)"),
    caught_by=("tests/core/test_randomness.py::test_a_copy_is_a_stream_of_its_own[copy]",),
)
mutant(
    "short-key",
    "The key of the cryptographic generator has 32 bits.",
    Edit(SecretStream, "renew", "secrets.randbits(128)", "secrets.randbits(32)"),
    caught_by=("tests/core/test_randomness.py::test_the_key_is_fresh_and_whole",),
)
mutant(
    "not-cryptographic",
    "Without a seed the generator is the default one of NumPy, whose outputs tell its state.",
    Edit(randomness, "generator", "return SecretStream()", "return np.random.default_rng()"),
    caught_by=("tests/core/test_randomness.py::test_the_default_is_the_cryptographic_generator",),
)
mutant(
    "generator-counted-as-private",
    "A release that is drawn from a given generator is not marked as reproducible.",
    Edit(Job, "run", "rng is not None", "isinstance(rng, int)"),
    caught_by=(
        "tests/core/test_randomness.py::test_what_counts_as_reproducible[rng2-True]",
        "tests/core/test_release.py::test_seeded_releases_are_marked",
    ),
)
mutant(
    "mechanisms-draw-from-a-seed",
    "A mechanism that is sampled without a seed takes one from its own parameters.",
    Edit(
        Described,
        "sample",
        "self._draw(generator(rng), valid, size)",
        "self._draw(generator(len(str(self)) if rng is None else rng), valid, size)",
    ),
    caught_by=("tests/contracts/test_contract.py::test_seeds_repeat_and_no_seed_does_not[Laplace]",),
)
mutant(
    "one-noise-for-a-batch",
    "All vectors of a batch get the same noise, so that two of them subtracted give their true difference.",
    Edit(
        _Additive,
        "_draw",
        "self._noisy(rng, np.broadcast_to(value, batch_shape(value, size)))",
        "np.broadcast_to(value, batch_shape(value, size)) + self._noisy(rng, np.zeros(np.shape(value)[-1]))",
    ),
    caught_by=(
        "tests/matrices/test_row_by_row.py::test_draws_are_matrices_on_the_support[laplace]",
        "tests/matrices/test_row_by_row.py::test_rows_are_drawn_as_vectors_are[laplace-law0]",
    ),
)
mutant(
    "constant-salt",
    "The salt by which a user's transitions are sampled is the same for everybody and known.",
    Edit(Question, "__post_init__", "secrets.token_hex(16) if self.salt", "'veil' if self.salt"),
    caught_by=("tests/chains/test_transitions.py::test_the_salt_is_secret_unless_given",),
)
mutant(
    "words-in-the-order-of-keys",
    "Released words stand in the order of their keys, which says whose they are.",
    Swap(WordTable, "reordered", lambda true: lambda self, order: self),
    caught_by=("tests/cli/test_cli_words.py::test_records_do_not_say_whose_is_whose",),
)
