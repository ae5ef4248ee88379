"""Pydantic AI messages, as `ModelMessagesTypeAdapter` writes them."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.pydantic_ai import PROVIDER

IMPORTER = importer_of("pydantic_ai", PROVIDER, priority=45)
