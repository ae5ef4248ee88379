"""Vercel AI SDK: model messages and UI messages."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.vercel import PROVIDER

IMPORTER = importer_of("vercel", PROVIDER, priority=24)
