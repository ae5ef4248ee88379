"""Mistral chat completions: a list of messages, a request, a reply, or a list of replies."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.mistral import PROVIDER

IMPORTER = importer_of("mistral", PROVIDER, priority=5)
