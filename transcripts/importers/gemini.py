"""Gemini contents: a list of messages, a request, a reply, or a list of replies."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.gemini import PROVIDER

IMPORTER = importer_of("gemini", PROVIDER, priority=30)
