"""Every write of what happened: keyword-only, named after what they do it to."""

from transcripts.services.runs import RunRefusedError, StoreOutcome, run_delete, run_store

__all__ = ["RunRefusedError", "StoreOutcome", "run_delete", "run_store"]
