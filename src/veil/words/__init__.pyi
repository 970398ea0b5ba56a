from .adjacency import Hamming
from .automaton_words import AutomatonWords
from .chain_words import ChainWords
from .codec import batch
from .language import FreeWords
from .mechanisms.balanced_words import BalancedWords
from .mechanisms.each_word import EachWord
from .mechanisms.exponential_words import ExponentialWords
from .mechanisms.permute_and_flip import PermuteAndFlip
from .mechanisms.sequential_words import SequentialWords
from .mechanisms.staircase_words import StaircaseWords
from .online_word import OnlineWord, online
from .planning import WordPlan
from .table import WordTable
from .verbs import plan, read, release
from .word_batch import WordBatch

__all__ = [
    "AutomatonWords",
    "BalancedWords",
    "ChainWords",
    "EachWord",
    "ExponentialWords",
    "FreeWords",
    "Hamming",
    "OnlineWord",
    "PermuteAndFlip",
    "SequentialWords",
    "StaircaseWords",
    "WordBatch",
    "WordPlan",
    "WordTable",
    "batch",
    "online",
    "plan",
    "read",
    "release",
]
