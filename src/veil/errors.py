"""The errors that Veil raises on purpose, to be caught by callers."""

from __future__ import annotations

from veil.core.errors import (
    BudgetExceeded,
    CannotCalibrate,
    InvalidArgument,
    InvalidData,
    InvalidField,
    LedgerCorrupt,
    LedgerUnavailable,
    MissingExtra,
    NoGuarantee,
    OutputExists,
    PrivacyWarning,
    ResultKept,
    ResultLost,
    UnreadableFile,
    VeilError,
)

__all__ = [
    "BudgetExceeded",
    "CannotCalibrate",
    "InvalidArgument",
    "InvalidData",
    "InvalidField",
    "LedgerCorrupt",
    "LedgerUnavailable",
    "MissingExtra",
    "NoGuarantee",
    "OutputExists",
    "PrivacyWarning",
    "ResultKept",
    "ResultLost",
    "UnreadableFile",
    "VeilError",
]
