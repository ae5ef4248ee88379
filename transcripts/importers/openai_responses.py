"""OpenAI Responses: a list of messages, a request, a reply, or a list of replies."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.openai_responses import PROVIDER

IMPORTER = importer_of("openai_responses", PROVIDER, priority=10)
