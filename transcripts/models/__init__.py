"""What happened: runs as they were recorded, who may read them, and who did."""

from transcripts.models.api_keys import ApiKey
from transcripts.models.audit import AccessEntry
from transcripts.models.changes import Change
from transcripts.models.deliveries import Delivery
from transcripts.models.idents import IDENT_LENGTH, POINTER_LENGTH
from transcripts.models.keeping import ErasedRun, RetentionRule, RunHold
from transcripts.models.masking import MaskingChoice, MaskRule, NotSecret
from transcripts.models.people import Membership, Project, User, UserManager
from transcripts.models.rounds import Message, Round, ToolCall
from transcripts.models.runs import Run
from transcripts.models.sign_in import Invitation, SignInDelay
from transcripts.models.texts import RunText, RunTextDue
from transcripts.models.traces import OpenTrace, SpanChunk

__all__ = [
    "IDENT_LENGTH",
    "POINTER_LENGTH",
    "AccessEntry",
    "ApiKey",
    "Change",
    "Delivery",
    "ErasedRun",
    "Invitation",
    "MaskRule",
    "MaskingChoice",
    "Membership",
    "Message",
    "NotSecret",
    "OpenTrace",
    "Project",
    "RetentionRule",
    "Round",
    "Run",
    "RunHold",
    "RunText",
    "RunTextDue",
    "SignInDelay",
    "SpanChunk",
    "ToolCall",
    "User",
    "UserManager",
]
