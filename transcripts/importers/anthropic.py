"""Anthropic messages: a list of messages, a request, a reply, or a list of replies."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.anthropic import PROVIDER

IMPORTER = importer_of("anthropic", PROVIDER, priority=20)
