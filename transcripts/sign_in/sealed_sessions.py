"""Sessions in the database, sealed: who reads the table learns nothing of them.

A session holds for a while what would let somebody in: the secret of a second factor that is being
set up, the state of a sign-in by a provider.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session

from transcripts.sealing import SealError, seal, unseal

NAME = b"session"


class SessionStore(db.SessionStore):
    """Django's own, but for how the data are written."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def encode(self, session_dict: dict[str, Any]) -> str:
        return base64.b64encode(seal(json.dumps(session_dict).encode(), name=NAME)).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """What `encode` made; nothing of a session whose key is gone, or from before sealing."""
        try:
            data = json.loads(unseal(base64.b64decode(session_data), name=NAME))
        except (SealError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}
