from .debiased import DebiasedClassifier
from .private_bits import PrivateBits
from .table import PrivateTable

__all__ = ["DebiasedClassifier", "PrivateBits", "PrivateTable"]
