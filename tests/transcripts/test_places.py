from __future__ import annotations

import pytest

from transcripts.places import place_in_words


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("run r, $.rounds[0].round", "run r, the 1st round, “round”"),
        ("$[0].rounds[11].calls[1].name", "the 1st entry, the 12th round, the 2nd call, “name”"),
        ("$.runs[21].messages[2].key", "the 22nd run, the 3rd message, “key”"),
        ("line 3, run vpn, $.rounds[2].input.added[0]",
         "line 3, run vpn, the 3rd round, “input”, the 1st entry of added"),
        ("$.rounds[0].calls[0].args[2][110]",
         "the 1st round, the 1st call, the 3rd entry of args, the 111th entry"),
        ("$", "the whole"),
        ("line 3", "line 3"),
        ("", ""),
        ("run $.x costs $5", "run $.x costs $5"),
        ("run IT-1", "run IT-1"),
    ],
)  # fmt: skip
def test_says_a_json_path_in_words(at: str, words: str) -> None:
    assert place_in_words(at) == words
