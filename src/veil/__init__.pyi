from . import bits, chains, errors, graphs, matrices, trips, vectors, words
from .core.adjacency import Adjacency
from .core.audit.auditing import Audit, audit, audit_pairs
from .core.audit.subject import AuditPair
from .core.audit.suite import AuditSuite, audit_suite
from .core.files import load
from .core.job import Job, release
from .core.kind import Kind
from .core.mechanism import Mechanism
from .core.plan import Plan
from .core.privacy.profile import PrivacyProfile, calibrate
from .core.progress import progress
from .core.record import Release
from .ledger.ledger import Ledger
from .matrices.chain import Chain
from .vectors.planning import compare

__version__: str

__all__ = [
    "Adjacency",
    "Audit",
    "AuditPair",
    "AuditSuite",
    "Chain",
    "Job",
    "Kind",
    "Ledger",
    "Mechanism",
    "Plan",
    "PrivacyProfile",
    "Release",
    "__version__",
    "audit",
    "audit_pairs",
    "audit_suite",
    "bits",
    "calibrate",
    "chains",
    "compare",
    "errors",
    "graphs",
    "load",
    "matrices",
    "progress",
    "release",
    "trips",
    "vectors",
    "words",
]
