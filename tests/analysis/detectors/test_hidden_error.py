from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call

SOURCE = """def load(path):
    if not path.exists():
        raise ValueError("no such file")
    return path.read_text()
"""
ARTICLE = (
    "Error messages and what to make of them. An error such as 403 Forbidden says that the server "
    "knows who asks and will not answer. Permission denied is its cousin in the shell. A request "
    "that timed out may have been carried out all the same. Write down which it was. " * 3
)
LOG = """2026-03-02T09:40:11Z INFO checkout started
2026-03-02T09:40:12Z ERROR upstream timed out after 3000 ms
2026-03-02T09:40:13Z INFO checkout finished"""


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        pytest.param("read_file", SOURCE, id="source code"),
        pytest.param("fetch_page", ARTICLE, id="an article"),
        pytest.param(
            "fetch_page",
            f"<html><title>Why time-outs hurt</title><h1>Errors</h1><p>{ARTICLE}</p></html>",
            id="a page on errors",
        ),
        pytest.param("query_logs", LOG, id="a log"),
        pytest.param("get_ticket", "My VPN says access denied since this morning.", id="a ticket"),
        pytest.param("search_articles", "HA-118 Connection timed out: reset it.", id="a hit"),
        pytest.param("find_user", "No users found.", id="no hits"),
        pytest.param("find_user", "Keine Treffer.", id="no hits in German"),
        pytest.param("run_tests", "1 failed, 4 passed in 0.3s", id="a test report"),
        pytest.param("lint", "0 errors, 2 warnings", id="no errors"),
        pytest.param("check_host", "Aucune erreur détectée.", id="no errors in French"),
        pytest.param("check_host", "没有错误", id="no errors in Chinese"),
        pytest.param(
            "get_build", {"id": 7, "name": "web", "status": "failed"}, id="another's failure"
        ),
        pytest.param("get_user", {"error": "", "data": {"id": 7}}, id="an empty error field"),
        pytest.param("get_user", {"error": None, "success": True, "id": 7}, id="null error"),
        pytest.param("lint", {"errors": 3, "warnings": 1, "files": 2}, id="a count of errors"),
        pytest.param("get_room", "Room 404, floor 5", id="a number"),
        pytest.param("bash", "ok\nExit code: 0", id="exit code 0"),
        pytest.param("run_code", "exitcode: 0 (done)\nOutput: 3 rows", id="exit code 0 first"),
        pytest.param("reset_profile", "Done. No errors.", id="done"),
        pytest.param("get_user", "", id="empty"),
        pytest.param("get_order", {"id": "W1", "status": "cancelled"}, id="a state"),
        pytest.param("python", "Warning: _curses.error: no terminal\nflag found", id="a warning"),
        pytest.param("get_page", '{"error": "", "response": "[{\\"id\\": 7, \\"na', id="cut JSON"),
        pytest.param("get_alert", {"id": 7, "host": "a", "error": "disk full"}, id="an alert"),
        pytest.param("get_job", {"id": 7, "host": "a", "success": False}, id="a job that failed"),
        pytest.param("get_user", "Not a single sign-in failed this week.", id="denied in words"),
        pytest.param("get_user", "Fehlerfrei seit 12 Tagen.", id="free of errors in German"),
        pytest.param(
            "next_item",
            {"ref": "T-1", "subject": "VPN", "body": "It says access denied.", "state": "new"},
            id="a ticket from a tool whose name tells nothing",
        ),
        pytest.param(
            "claim_request",
            {"ref": "T-1", "title": "Scanner", "body": "It says 'timed out'.", "state": "taken"},
            id="a ticket that was taken",
        ),
        pytest.param(
            "lookup_request",
            {"id": "T-1", "problem": "Unable to log in", "owner": "Anna"},
            id="a problem as a field",
        ),
        pytest.param(
            "lookup_request",
            {"id": "T-1", "title": "Report 4", "error": "timed out", "owner": "Anna"},
            id="an error that was reported",
        ),
        pytest.param("lookup_request", "The caller writes: the app failed with 500.", id="writes"),
        pytest.param("lookup_request", "T-1: Access denied, opened by Anna.", id="opened by"),
        pytest.param("lookup_request", "T-1 | new | Anna | Login failed", id="a row of a table"),
        pytest.param(
            "lookup_request", {"ref": "T-1", "message": "Request failed when I save."}, id="says I"
        ),
        pytest.param("get_weather", "bad weather is expected", id="bad weather"),
        pytest.param("look_up", "Es wurden keine Einträge gefunden.", id="none in German"),
        pytest.param("look_up", "该条件下没有找到记录", id="none in Chinese"),
    ],
)
def test_stays_silent(tool: str, result: object) -> None:
    assert rounds("hidden_error", a_run([call(tool, {"id": 1}, result)], "Done.")) == []


def test_stays_silent_in_an_empty_run_and_for_marked_errors() -> None:
    assert rounds("hidden_error", a_run()) == []
    assert rounds("hidden_error", a_run([call("get_user", {}, "Error: x", is_error=True)])) == []


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        ("reset_profile", "Error: permission denied"),
        ("reset_profile", "__Failure__: the lease is held by somebody else"),
        ("reset_profile", "Uncaught (in promise) FetchError: connect ECONNREFUSED"),
        ("reset_profile", {"ref": "T-1", "state": "open", "message": "Request failed: locked"}),
        ("get_user", "The directory refused the look-up."),
        ("get_user", "The token is no longer valid, please sign in."),
        ("get_user", "La solicitud fue rechazada por el servidor."),
        ("get_user", "Die Anfrage wurde abgelehnt."),
        ("get_user", "make: *** [Makefile:14: test] Error 2"),
        ("reset_profile", "You do not have permission to change this profile."),
        ("reset_profile", "reset_profile: not done, the directory could not be reached"),
        ("get_user", "User not found"),
        ("get_user", "ValueError: employee_id must be an integer"),
        ("get_user", "HTTP 503 Service Unavailable"),
        ("get_user", "404: Not Found"),
        ("get_user", "Request timed out after 30 s"),
        ("get_user", "**Error**: the profile is read-only"),
        ("get_user", {"error": "no such user"}),
        ("get_user", {"error": "no such user", "user": 7, "tenant": "a"}),
        ("get_user", {"success": False, "message": "locked"}),
        ("get_user", {"id": 7, "name": "a", "team": "b", "isError": True}),
        ("set_user", {"status": "failed"}),
        ("set_user", {"status": 403, "title": "Forbidden"}),
        ("get_user", {"isError": True, "content": [{"type": "text", "text": "boom"}]}),
        (
            "get_user",
            {
                "isError": False,
                "content": [{"type": "text", "text": "missing required parameter: owner"}],
            },
        ),
        ("set_phase", {"text": '{"status": "error", "reason": "1 validation error"}', "error": ""}),
        ("get_x", {"error": "", "response": "{'message': \"Endpoint does not exist\"}"}),
        ("get_profile", {"profile": "standard", "reset": "403 Forbidden"}),
        ("get_user", '"Error: wrapped in quotes"'),
        ("get_user", '{"error": "no such user", "response": "[{\\"id\\": 7'),
        ("get_user", "<result><success>false</success><reason>locked</reason></result>"),
        ("get_page", "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"),
        ("bash", "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'"),
        ("bash", "cat: a.txt: No such file or directory"),
        ("bash", "building\nmake: *** [all] Error 2\n[exit code: 2]"),
        ("reset_profile", "Zugriff verweigert"),
        ("reset_profile", "Accès refusé : droits insuffisants"),
        ("reset_profile", "No se pudo completar la operación"),
        ("reset_profile", "权限不足"),
        ("reset_profile", "アクセスが拒否されました"),
        ("reset_profile", "Доступ запрещён"),
        ("book_flight", "Your request was declined by the policy engine."),
    ],
)
def test_flags_what_reads_as_a_failure(tool: str, result: object) -> None:
    assert rounds("hidden_error", a_run([call(tool, {"id": 1}, result)], "Done.")) == [1]


def test_says_when_the_answer_is_marked_as_good() -> None:
    run = a_run([call("get_user", {}, "Error: busy", is_error=False)])

    (draft,) = drafts("hidden_error", run)

    assert draft.why == "get_user answered “Error: busy”, but the answer is marked as good."


def test_counts_the_same_error_of_the_same_call_once() -> None:
    same = call("get_user", {"id": 7}, "Error: busy")

    (draft,) = drafts("hidden_error", a_run([same], [same], [same]))

    assert (draft.at.round, draft.to_round, draft.values["times"]) == (1, 3, 3)


def test_hostile_text_is_read() -> None:
    for text in ("\ud800 Error: x", "[" * 10_000, '{"a":' * 10_000, "Error: " * 200_000, "\x00"):
        rounds("hidden_error", a_run([call("get_user", {}, text)]))
