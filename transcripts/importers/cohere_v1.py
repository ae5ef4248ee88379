"""Cohere v1 chat: a request with its history, a reply, or a list of replies."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.cohere_v1 import PROVIDER

IMPORTER = importer_of("cohere_v1", PROVIDER, priority=8)
