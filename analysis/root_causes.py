"""Why runs go wrong, as engineers name it: the closed set of root causes.

`mode` is the failure mode of MAST that fits, where one does (Cemri et al., "Why Do Multi-Agent LLM
Systems Fail?", arXiv 2503.13657, table of 14 modes); `owner` is who can usually mend it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RootCause:
    """One root cause. `name` is kept in columns, so it does not change; `title` and `words` are
    what people read.
    """

    name: str
    title: str
    words: str
    owner: str
    mode: str = ""


ROOT_CAUSES: tuple[RootCause, ...] = (
    RootCause(
        "hidden_tool_error",
        "Hidden tool error",
        "The tool failed, and its answer did not say so.",
        "the tool's wrapper",
    ),
    RootCause(
        "tool_outage",
        "Tool permission or outage",
        "The tool said that it could not: no permission, not there, too slow, down.",
        "who runs the tool",
    ),
    RootCause(
        "no_stop_condition",
        "Missing stop condition",
        "Nothing in the loop said that the job was over.",
        "the agent's loop",
        "FM-1.5 unaware of termination conditions",
    ),
    RootCause(
        "repeated_call",
        "Same call repeated",
        "The loop let the model ask for the same thing again and again.",
        "the agent's loop",
        "FM-1.3 step repetition",
    ),
    RootCause(
        "context_overflow",
        "Context overflow",
        "The input grew past the window, or was trimmed of what the model needed.",
        "the agent's loop",
        "FM-1.4 loss of conversation history",
    ),
    RootCause(
        "bad_input",
        "Bad or missing input",
        "The ticket did not say enough, or said it wrongly.",
        "who writes tickets",
        "FM-2.2 fail to ask for clarification",
    ),
    RootCause(
        "hallucinated_tool",
        "Hallucinated tool or arguments",
        "The model asked for a tool or for values that do not exist.",
        "the prompt and the tool's description",
    ),
    RootCause(
        "model_choice",
        "Model chose badly",
        "The model had good information and still took the wrong step.",
        "the prompt or the model",
        "FM-2.6 reasoning-action mismatch",
    ),
    RootCause(
        "service_failure",
        "Service failure",
        "The model's service failed, cut off or blocked the reply.",
        "the model's service",
    ),
    RootCause("not_a_fault", "Not a fault", "The run did what it should.", "nobody"),
)
ROOT_CAUSE: dict[str, RootCause] = {cause.name: cause for cause in ROOT_CAUSES}

# What a detector's finding is most often a sign of: offered first, never set by itself.
SUGGESTED: dict[str, str] = {
    "empty_result": "hidden_tool_error",
    "hidden_error": "hidden_tool_error",
    "failed_result": "tool_outage",
    "retried_failure": "tool_outage",
    "high_error_rate": "tool_outage",
    "slow_tool": "tool_outage",
    "unanswered_call": "tool_outage",
    "repeated_call": "repeated_call",
    "alternating_calls": "repeated_call",
    "near_repeat": "repeated_call",
    "never_finished": "no_stop_condition",
    "no_progress": "no_stop_condition",
    "unbounded_paging": "no_stop_condition",
    "round_limit_passed": "no_stop_condition",
    "time_limit_passed": "no_stop_condition",
    "context_trimmed": "context_overflow",
    "context_pressure": "context_overflow",
    "ticket_lost": "context_overflow",
    "oversized_result": "context_overflow",
    "unknown_tool": "hallucinated_tool",
    "invalid_arguments": "hallucinated_tool",
    "claimed_success": "model_choice",
    "ok_without_proof": "model_choice",
    "repeated_reply": "model_choice",
    "blocked_reply": "service_failure",
    "cut_off_reply": "service_failure",
    "empty_replies": "service_failure",
    "stop_mismatch": "service_failure",
    "unknown_stop": "service_failure",
}
