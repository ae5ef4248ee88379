"""Cohere chat: a list of messages, a request, a reply, or a list of replies."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.cohere import PROVIDER

IMPORTER = importer_of("cohere", PROVIDER, priority=6)
