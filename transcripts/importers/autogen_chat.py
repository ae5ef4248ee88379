"""AutoGen 0.2: the messages of a chat between agents."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.autogen_chat import PROVIDER

IMPORTER = importer_of("autogen_chat", PROVIDER, priority=10)
