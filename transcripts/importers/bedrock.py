"""Bedrock Converse: a list of messages, a request, a reply, or a list of replies."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.bedrock import PROVIDER

IMPORTER = importer_of("bedrock", PROVIDER, priority=25)
