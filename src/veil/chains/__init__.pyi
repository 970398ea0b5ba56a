from .adjacency import Transitions
from .error_bars.intervals import intervals
from .mechanisms.discovered_chain import DiscoveredChain
from .mechanisms.private_chain import Part, PrivateChain
from .mechanisms.sparse_chain import SparseChain
from .planning import ChainPlan
from .reading import SequenceFile
from .released_groups import GroupChain, groups
from .sequence_model import LengthLaw, SequenceModel, group_chain, model
from .sequences.synthetic import Synthetic, synthetic
from .sparse.discovery_plan import DiscoveryPlan
from .sparse.noise import SparseNoise
from .sparse.planning import SparsePlan
from .transition_counts import (
    OncePerUser,
    Provenance,
    Sequences,
    Stratum,
    TransitionCounts,
    TransitionTable,
)
from .user_plan import UserForecast, UserPlan, plan_users
from .verbs import plan, read, release

__all__ = [
    "ChainPlan",
    "DiscoveredChain",
    "DiscoveryPlan",
    "GroupChain",
    "LengthLaw",
    "OncePerUser",
    "Part",
    "PrivateChain",
    "Provenance",
    "SequenceFile",
    "SequenceModel",
    "Sequences",
    "SparseChain",
    "SparseNoise",
    "SparsePlan",
    "Stratum",
    "Synthetic",
    "TransitionCounts",
    "TransitionTable",
    "Transitions",
    "UserForecast",
    "UserPlan",
    "group_chain",
    "groups",
    "intervals",
    "model",
    "plan",
    "plan_users",
    "read",
    "release",
    "synthetic",
]
