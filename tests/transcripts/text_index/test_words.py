"""What a text is found by, and what a search asks for."""

from __future__ import annotations

import pytest

from transcripts.text_index.asked import asked_of
from transcripts.text_index.sheets import LONGEST_TEXT, MOST_ROUNDS, RoundText, sheets_of
from transcripts.text_index.words import LONGEST, readable, words_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("See INC-4417.", {"see", "inc-4417", "inc", "4417"}, id="ticket"),
        pytest.param(
            "reset_vpn_profile", {"reset_vpn_profile", "reset", "vpn", "profile"}, id="tool"
        ),
        pytest.param(
            "to anna.smith@contoso.com,",
            {"to", "anna.smith@contoso.com", "anna.smith", "contoso.com"}
            | {"anna", "smith", "contoso", "com"},
            id="e-mail",
        ),
        pytest.param(
            "C:\\Users\\Anna\\vpn-log.txt",
            {"c:/users/anna/vpn-log.txt", "vpn-log.txt", "vpn-log"}
            | {"c", "users", "anna", "vpn", "log", "txt"},
            id="path",
        ),
        pytest.param("Straße ÄRGER café", {"strasse", "arger", "cafe"}, id="accents and case"),
        pytest.param("重置密码。", {"重置", "置密", "密码", "码"}, id="pairs"),
        pytest.param("ＶＰＮ接続", {"vpn", "接続", "続"}, id="full width"),
        pytest.param("हिन्दी में।", {"हिन्दी", "में"}, id="marks"),
        pytest.param("Привет, мир", {"привет", "мир"}, id="Cyrillic"),
        pytest.param("Łódź cœur Đức ØRE", {"lodz", "coeur", "duc", "ore"}, id="letters alike"),
        pytest.param("مُوَظَّف أحمد", {"موظف", "احمد"}, id="Arabic vowels"),
        pytest.param("می\u200cشود", {"ميشود"}, id="a joiner"),
        pytest.param("👩\u200d💻", set(), id="a joiner alone"),
        pytest.param("one\\ntwo", {"one/ntwo", "one", "ntwo", "two"}, id="an inner escape"),
        pytest.param("—…!?", set(), id="nothing"),
    ],
)
def test_a_text_is_found_by_its_words(text: str, found: set[str]) -> None:
    assert words_in(text) == found


def test_escapes_of_json_join_no_words() -> None:
    assert words_in(readable('{"log": "first\\nsecond\\u00e9"}')) == {"log", "first", "seconde"}
    assert readable("C:\\new") == "C:\\new"


@pytest.mark.parametrize(
    ("word", "inner"),
    [
        ("zugangsberechtigung", "~berechtigung"),
        ("المرور", "~مرور"),
        ("הסיסמה", "~סיסמה"),
    ],
)
def test_long_words_and_those_with_an_article_are_kept_from_within_too(
    word: str, inner: str
) -> None:
    (sheet,) = sheets_of([RoundText(1, (word,))])

    assert f"'{inner}'" in sheet.vector([])


@pytest.mark.parametrize("word", ["recommendation", "a" * 41, "9f" * 10, "密码重置"])
def test_nothing_within_other_words_is_kept(word: str) -> None:
    (sheet,) = sheets_of([RoundText(1, (word,))])

    assert "~" not in sheet.vector([])


def test_a_blob_is_kept_by_its_beginning() -> None:
    (sheet,) = sheets_of([RoundText(1, ("a" * 5_000,))])

    assert sheet.vector([]).endswith(f"'{'a' * LONGEST}'")


def test_rows_end_where_they_are_full() -> None:
    many = [RoundText(number, (f"word{number}",)) for number in range(1, 2 * MOST_ROUNDS + 2)]

    sheets = list(sheets_of(many))

    assert [len(sheet.rounds) for sheet in sheets] == [MOST_ROUNDS, MOST_ROUNDS, 1]


def test_a_very_long_round_takes_several_rows() -> None:
    sheets = list(sheets_of([RoundText(7, ("long text " * (LONGEST_TEXT // 5),))]))

    assert len(sheets) == 2
    assert all(sheet.rounds == [7] for sheet in sheets)


@pytest.mark.parametrize(
    ("text", "terms", "without", "phrases"),
    [
        ("vpn Timeout", ("'vpn'", "'timeout'"), (), 0),
        ("INC-4417", ("'inc-4417'",), (), 0),
        ('"connection refused"', ("'connection'", "'refused'"), (), 1),
        ("“connection refused”", ("'connection'", "'refused'"), (), 1),
        ("vpn -test", ("'vpn'",), ("'test'",), 0),
        ("-test", (), (), 0),
        ("reimb*", ("'reimb':*",), (), 0),
        ("密码重", ("'密码'", "'码重'"), (), 1),
        ("密", ("'密':*",), (), 0),
        ("' \\ \x00 & | ! ( ) :*", (), (), 0),
        ("it's", ("'it'", "'s'"), (), 0),
    ],
)
def test_a_search_is_read(
    text: str, terms: tuple[str, ...], without: tuple[str, ...], phrases: int
) -> None:
    asked = asked_of(text)

    assert (asked.terms, asked.without, len(asked.phrases)) == (terms, without, phrases)


def test_marks_what_was_searched_for() -> None:
    told = "a can, cancelled in a vacation; recant"

    def marked(text: str, *, loosely: bool = False) -> list[int]:
        asked = asked_of(text)
        shows = (asked.loosened if loosely else asked).shows
        return [found.start() for each in shows for found in each.finditer(told)]

    assert marked("can") == [2]
    assert marked("can*") == [2, 7]
    assert marked("can", loosely=True) == [2, 7]
    assert marked("cant", loosely=True) == [told.index("cant")]


def test_umlauts_are_found_in_either_spelling() -> None:
    assert "'muller':*" in asked_of("Mueller").loose[0]
    assert "'mueller':*" in asked_of("Müller").loose[0]
    assert asked_of("Mueller").loose_shows[0].search("herr muller")
