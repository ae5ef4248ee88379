from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.normalising import WORDS, normalised_error
from tests.strategies import texts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("no employee 4417", "no employee 9", id="numbers"),
        pytest.param("ticket INC-4417 is closed", "ticket IT-20931 is closed", id="ids"),
        pytest.param(
            "job 8f3a9c12-1111-4222-8333-123456789012 failed",
            "job 00000000-aaaa-bbbb-cccc-ffffffffffff failed",
            id="uuids",
        ),
        pytest.param("commit deadbeefcafe is gone", "commit 0123456789ab is gone", id="hex"),
        pytest.param("no user 'anna'", "no user 'b. ruiz'", id="quoted"),
        pytest.param('no user "anna"', "no user “b. ruiz”", id="other quotes"),
        pytest.param("mail to anna@example.org bounced", "mail to b@x.de bounced", id="mail"),
        pytest.param(
            "late at 2026-11-30T10:22:11Z", "late at 2025-01-02 03:04:05.123", id="ISO times"
        ),
        pytest.param(
            "late at Mon, 30 Nov 2026 10:22:11 GMT",
            "late at Tue, 1 Dec 2026 09:00:01 GMT",
            id="mail times",
        ),
        pytest.param("员工4417不存在、请检查", "员工9不存在、请检查", id="numbers between Chinese"),
        pytest.param(
            "社員4417が見つかりません", "社員55が見つかりません", id="numbers between Japanese"
        ),
        pytest.param("ไม่พบพนักงาน4417", "ไม่พบพนักงาน12", id="numbers behind Thai"),
        pytest.param(
            "사용자4417을 찾을 수 없습니다",
            "사용자12을 찾을 수 없습니다",
            id="numbers between Korean",
        ),
        pytest.param("找不到用户“张三”", "找不到用户「李四」", id="quotes between Chinese"),
        pytest.param("Kein Benutzer „Müller“", "Kein Benutzer «Schmidt»", id="German quotes"),
        pytest.param("timeout after 30s", "timeout after 4.5 seconds", id="units"),
        pytest.param("no report.pdf there", "no notes.docx there", id="files"),
        pytest.param("cannot open C:\\x.txt", "cannot open /etc", id="short paths"),
        pytest.param("no file /home/anna/a.txt", "no file /srv/data/b.csv", id="paths"),
        pytest.param(
            "key [SECRET:github:deadbeef] expired",
            "key [SECRET:aws:00000000] expired",
            id="placeholders",
        ),
        pytest.param("Error: permission denied", "PERMISSION   DENIED.", id="case and prefix"),
        pytest.param(
            '{"error": {"code": 403, "message": "no right for 22"}, "request_id": "a1"}',
            '{"request_id": "b2", "error": {"code": 403, "message": "no right for 4417"}}',
            id="error objects",
        ),
        pytest.param(
            'Traceback (most recent call last): File "a.py", line 3, in f ValueError: bad 1',
            'Traceback (most recent call last): File "b.py", line 7, in g ValueError: bad 22',
            id="tracebacks",
        ),
        pytest.param(
            "could not reset the profile of employee 4417 in the direct…",
            "could not reset the profile of employee 22 in the directory…",
            id="cut by the detector",
        ),
    ],
)
def test_one_fault_has_one_text(one: str, other: str) -> None:
    assert normalised_error(one) == normalised_error(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("HTTP 403", "HTTP 500", id="status"),
        pytest.param("员工4417不存在", "权限4417被拒绝", id="words of Chinese"),
        pytest.param(
            "社員4417が見つかりません", "社員4417の権限がありません", id="words of Japanese"
        ),
        pytest.param(
            "错误、员工的编号没有找到、请检查输入以后再次提交、谢谢您的合作与支持、我们会尽快为您处理这个问题",
            "错误、服务器内部发生了严重的故障、无法完成当前的操作、请稍后再试或者联系系统管理员获取帮助",
            id="long Chinese",
        ),
        pytest.param("ไม่พบพนักงาน4417", "ไม่มีสิทธิ์4417", id="words of Thai"),
        pytest.param("database error 1045", "database error 2002", id="codes of databases"),
        pytest.param("ORA-00942: no", "ORA-01017: no", id="codes with a name"),
        pytest.param("WinError 5", "WinError 32", id="codes of Windows"),
        pytest.param("SQLSTATE[42P01]", "SQLSTATE[28000]", id="codes of SQL"),
        pytest.param('{"code": "E42"}', '{"code": "E43"}', id="codes with letters"),
        pytest.param("node.js is missing", "next.js is missing", id="names like files"),
        pytest.param("403 Forbidden", "404 Not Found", id="status first"),
        pytest.param("GET /x returned 404", "GET /x returned 503", id="status last"),
        pytest.param("exit code 1", "exit code 137", id="exit codes"),
        pytest.param("permission denied", "not found", id="words"),
        pytest.param('{"error": "a gap"}', '{"error": "no gap"}', id="objects"),
        pytest.param("oauth2 token expired", "saml token expired", id="names with a number"),
        pytest.param("https://a.example/x failed", "https://b.example/x failed", id="hosts"),
        pytest.param("can't open it", "don't open it", id="apostrophes are no quotes"),
    ],
)
def test_two_faults_have_two_texts(one: str, other: str) -> None:
    assert normalised_error(one) != normalised_error(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        (" . ", ""),
        ("1234 5678", "…"),
        ("same call, same answer", "same call, same answer"),
        ("Timed out after 30 s", "timed out after"),
        ("Error: HTTP 500 Internal Server Error", "http 500 internal server error"),
        ('{"error":{"code":403,"message":"No right for us…', "error code 403 message no right for"),
        ('{"status": 429, "detail": "slow down"}', "code 429: slow down"),
        ("[SECRET:x", "[secret:x"),
        ("<b>Bad</b> gateway", "<b>bad</b> gateway"),
        ("员工4417不存在、请检查", "员工 … 不存在、请检查"),
        ("error code: E-42", "error code e-42"),
    ],
)
def test_what_is_left_reads_well(text: str, words: str) -> None:
    assert normalised_error(text).removesuffix(" …") == words


PIECES = (
    *("error:", "HTTP", "403", "user", "'a'", "INC-12", '{"error":', '"x', '3"}', "2026-11-30"),
    *("…", "“", "”", "[SECRET:a:deadbeef]", "Mon,", "30", "Nov", "/", "\\", "Traceback", "'", '"'),
    *("https://a.b/c?d=1", "exit", "code", "-1", "\ue000", "\ue001"),
)


@given(st.one_of(texts, st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join)))
def test_any_text_gives_a_few_words(text: str) -> None:
    found = normalised_error(text)

    assert len(found.split()) <= WORDS
    assert found == found.strip()
    assert "deadbeef" not in found


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_no_number_is_left(one: int, other: int) -> None:
    text = "could not book room {} for {}"

    assert normalised_error(text.format(one, other)) == normalised_error(text.format(other, one))


def test_a_long_text_takes_no_long_time() -> None:
    for text in ("'" * 100_000, "a1" * 50_000, '{"a":' * 20_000, "error: " * 20_000):
        normalised_error(text)
