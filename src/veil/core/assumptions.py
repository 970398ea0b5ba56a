"""What a reader of a release must accept, in sentences that several kinds of data share."""

from __future__ import annotations

STATES_ARE_PUBLIC = "the list of states is public"
LAYOUT_IS_PUBLIC = "how the file is laid out (separators, header, the types of its columns) is public"
ONE_PER_PERSON = "one item per person: each vector of the batch belongs to someone else"
UNPROTECTED = "the entries that are not protected are public"
