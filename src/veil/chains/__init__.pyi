from .adjacency import Transitions
from .error_bars.intervals import intervals
from .mechanisms.chain_parts import Part
from .mechanisms.private_chain import PrivateChain
from .planning import ChainPlan
from .reading import SequenceFile
from .released import group_chain, model
from .sequence_model import LengthLaw, SequenceModel
from .synthesis import Synthetic, synthetic
from .transition_counts import Provenance, Sequences, Stratum, TransitionCounts, TransitionTable
from .user_plan import UserPlan, plan_users
from .user_trials import UserForecast
from .verbs import plan, read, release

__all__ = [
    "ChainPlan",
    "LengthLaw",
    "Part",
    "PrivateChain",
    "Provenance",
    "SequenceFile",
    "SequenceModel",
    "Sequences",
    "Stratum",
    "Synthetic",
    "TransitionCounts",
    "TransitionTable",
    "Transitions",
    "UserForecast",
    "UserPlan",
    "group_chain",
    "intervals",
    "model",
    "plan",
    "plan_users",
    "read",
    "release",
    "synthetic",
]
