"""Google's Interactions API: one interaction with its steps."""

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.google_interactions import PROVIDER

IMPORTER = importer_of("google_interactions", PROVIDER, priority=35)
