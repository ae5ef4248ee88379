"""OpenAI chat messages: `{"messages": […]}`, a bare list of messages, a completion, or a list of
them.
"""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.openai_chat import PROVIDER

IMPORTER = importer_of("openai_chat", PROVIDER, priority=-10)
