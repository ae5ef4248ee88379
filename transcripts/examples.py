"""Bodies that the OpenAPI document shows; a test sends each of them."""

from __future__ import annotations

from typing import Any

ROUNDS_EXAMPLE: dict[str, Any] = {
    "rounds": [
        {
            "round": 1,
            "messages": [
                {"role": "system", "content": "You are the helpdesk agent."},
                {"role": "user", "content": "Ticket IT-20931: my VPN disconnects."},
            ],
            "stop": "tool_calls",
            "reply": "I will reset the VPN profile.",
            "calls": [
                {
                    "id": "call_1",
                    "name": "reset_vpn_profile",
                    "args": {"employee_id": 4417},
                    "result": "",
                    "is_error": False,
                }
            ],
            "tokens_in": 630,
            "tokens_out": 38,
            "duration_ms": 38400,
        }
    ]
}
RUN_EXAMPLE: dict[str, Any] = {
    "format": "agentdesk.run/1",
    "run_id": "vpn-20931",
    "ticket_id": "IT-20931",
    "agent": "helpdesk",
    "model": "gpt-4o-2024-11-20",
    "prompt_version": "2026-09-28.3",
    "ending": "stopped",
    "labels": {"team": "it"},
    **ROUNDS_EXAMPLE,
}
END_EXAMPLE: dict[str, Any] = {
    "ending": "round_limit",
    "ending_reason": "The loop stops after 52 rounds.",
    "rounds_expected": 52,
}
FILE_EXAMPLE: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Ticket IT-20931: my VPN disconnects."},
        {"role": "assistant", "content": "It is fixed."},
    ]
}
