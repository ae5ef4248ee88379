"""Stand-ins for messages and rounds."""

from __future__ import annotations

# Characters of a message's stand-in: 9 bytes of keyed digest in base64. Two of the 100,000
# messages of a run share one with a probability of 1e-12.
IDENT_LENGTH = 12

# Longest pointer to a round, in characters, and how one begins that is a number: no stand-in does.
POINTER_LENGTH = 12
NUMBERED = "#"
