from . import learn
from .adjacency import BitFlips
from .domain import Bits
from .estimation import BitReading, estimates
from .mechanisms.matrix_bernoulli import MatrixBernoulli, xor_parameters
from .mechanisms.randomized_response import RandomizedResponse
from .mechanisms.staircase_xor import StaircaseXor
from .mechanisms.xor import Xor, XorBlocks
from .planning import BitPlan
from .reading import BitSource
from .verbs import plan, read, release

__all__ = [
    "BitFlips",
    "BitPlan",
    "BitReading",
    "BitSource",
    "Bits",
    "MatrixBernoulli",
    "RandomizedResponse",
    "StaircaseXor",
    "Xor",
    "XorBlocks",
    "estimates",
    "learn",
    "plan",
    "read",
    "release",
    "xor_parameters",
]
