"""Whether a value under a telling name is a secret, or a stand-in, code, or plain speech."""

from __future__ import annotations

import re
from typing import Final

from transcripts.masking.names import Strength
from transcripts.masking.placeholders import PLACEHOLDER

# What stands where a secret would be: templates, environment look-ups, words of documentation. A
# word with a year behind a dollar sign is a password ($summer2024); variables end in fewer digits.
STAND_IN: Final = re.compile(
    r"""(?ix) ^(?:
      <[^<>]*> | \$\{.* | \{\{.* | \$\(.* | %[a-z_][a-z0-9_]*%
    | \$(?!(?!sha|aes|rsa|ecdsa|crc|fips)[a-z]{4,}\d{3,}$)[a-z_][a-z0-9_]*\}?
    | @[a-z_]+@ | \{[\w.\s]*\} | \[[^\]]*\] | \[[a-z_\s]*\]? | \([^()]*\)
    | &(?:lt|\#60|\#x0*3c);.* | \#\{.*
    | (.)\1{2,} | [*•.xX_\-]+ | x{4,}[\w.-]*
    | (?-i:the|an?|my|your|our|The|My|Your|MY|YOUR)(?:[-_\s][a-z]+)+ | .*(?:[-_\s]here|_goes_here)
    | (?:insert|enter|put|add|replace|set|use)[-_\s][^\d!?*\#]*
    | .*(?:your|my)[-_](?:api|secret|token|key|pass|access|password|client).*
    | (?:some|any|example|sample|dummy|fake|mock|placeholder|redacted|masked|hidden|removed|omitted
      |filtered|secret|obfuscated|censored|password|passwd|passwort|kennwort|pwd|token|key|apikey
      |api[-_]key|value|values|credentials?|user|username)(?:[-_\s:][^\d!?*\#]*)?
    | \{%.* | \$[a-z_]\w*(?:::|->|-$|\[|\{|\.).* | 0x[0-9a-f]{1,16} | v?\d+(?:\.\d+)+
    | (?-i:[A-Z]+(?:_[A-Z]+)+) | pass | user:pass
    | (?:string|boolean|number|binary|integer|object|array)\?
    | :?[*]+
    | (?:[\w:/@.-]*\{[a-z_.]+\})+[\w:/@.-]* | _[a-z_]+
    | null|none|nil|undefined|true|false|yes|no|on|off|empty|blank|void|n/?a|tbd|todo|unknown|unset
    | unchanged|string|str|text|int|integer|number|bool|boolean|object|array|bytes|any|optional
    | required|n?(?:var)?char(?:\(.*)?
    | (?:xxxxx?|aaaa+|abcdefg?h?\w*|foo|bar|baz|foobar|test|testing|1234567890|0123456789.*)
    ) $"""
)
TEMPLATE: Final = re.compile(r"\$\{|\{\{|%\(\w+\)s|\{%")
LOOK_UP: Final = re.compile(
    r"(?i)environ|getenv|process\.env|import\.meta|secrets?\.|vault[:./]|config[.(\[]|settings\.|getpass|input\("
    r"|params\[|request\.|self\.|this\.|args\.|\$\{|\{\{|%\(|\)s$"
)
IDENTIFIER: Final = re.compile(r"^[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*(?:[(\[].*)?$")
PATH: Final = re.compile(
    r"^(?:[~.]{0,2}(?:/[A-Za-z_.-]+)+/?|[A-Za-z]:\\[^\s]*|~/[\w./-]*|\.{1,2}/[\w./-]*"
    r"|/(?:home|root|usr|var|opt|etc|tmp|mnt|srv|data|app|run|dev|proc|bin|lib|Users|Library|private"
    r"|workspaces?|workdir|work|repo|repos|testbed|code|src|Volumes|Applications)(?:/[\w.@+-]+)*/?)$"
)
URL: Final = re.compile(r"^[a-z][a-z0-9+.-]*://[^@]*$", re.IGNORECASE)
SPEECH: Final = re.compile(
    r"(?i)(?:^|\s)(?:is|are|was|were|be|must|should|will|cannot|can't|not|the|too|and|or|of|to|for|with|your|my|please|at"
    r"|least|required|invalid|incorrect|wrong|expired|missing|does|did|has|have|in|on|an?|from|ist|und|das|der|die|nicht"
    r"|le|la|est|de|el|es|que|per|il|um|o|het|een)(?:\s|$)"
)
DIGIT: Final = re.compile(r"\d")
LETTER: Final = re.compile(r"[^\W\d_]")
SYMBOL: Final = re.compile(r"[^\w\s]")
CAPITALS: Final = re.compile(r"[A-Z]?[a-z]+")
VOWEL: Final = re.compile(r"(?i)[aeiouy]")
CODE_DIGITS: Final = re.compile(r"^#?\d{3,12}$")
SHORTEST: Final = 3
# Shortest value that a weak name makes a secret.
WEAK_SHORTEST: Final = 8
LONGEST: Final = 8192


def is_stand_in(value: str) -> bool:
    """Whether `value` stands for a secret that is not there."""
    bare = value.strip()
    return bool(STAND_IN.match(bare[:200])) or bool(PLACEHOLDER.search(bare))


def is_secret(value: str, strength: Strength, *, quoted: bool, numeric_ok: bool = False) -> bool:
    """Whether `value` under a name of `strength` is a secret.

    `quoted`: it stood in quotes or is a JSON string, so it is no word of code. `numeric_ok`: a few
    digits alone count (a PIN, a one-time code).
    """
    if strength == Strength.NONE or len(value) < SHORTEST:
        return False
    if len(value) > LONGEST:
        return strength == Strength.STRONG and not SPEECH.search(value[:LONGEST])
    if is_stand_in(value) or TEMPLATE.search(value) or PATH.match(value) or URL.match(value):
        return False
    if not quoted and (LOOK_UP.search(value) or _is_code(value)):
        return False
    if strength == Strength.WEAK:
        return _looks_random(value) or (numeric_ok and bool(CODE_DIGITS.match(value)))
    if any(character.isspace() for character in value):
        return quoted and not SPEECH.search(value) and len(value.split()) <= 8
    if quoted:
        return True
    if IDENTIFIER.match(value):
        return bool(DIGIT.search(value)) or _is_jumble(value)
    return bool(DIGIT.search(value) or len(value) >= 6)


def _is_code(value: str) -> bool:
    """Whether an unquoted value is an expression: a call, an index, a dotted name, a type."""
    bare = value.rstrip("),:;]}")
    if is_stand_in(bare) or value[0] in ":=!<>":
        return True
    if not IDENTIFIER.match(value):
        return False
    return "(" in value or "[" in value or ("." in value and not value[-1].isdigit())


def _is_jumble(value: str) -> bool:
    """Whether letters alone look random: cut at capitals, they make no words."""
    if len(value) < WEAK_SHORTEST or not value.isalpha():
        return False
    words = [word for word in CAPITALS.findall(value) if len(word) > 2 and VOWEL.search(word)]
    mixed = not value.islower() and not value.isupper()
    return mixed and 2 * sum(map(len, words)) < len(value)


def _looks_random(value: str) -> bool:
    if any(character.isspace() for character in value) or len(value) < WEAK_SHORTEST:
        return False
    kinds = sum(bool(kind.search(value)) for kind in (DIGIT, LETTER, SYMBOL))
    return bool(DIGIT.search(value)) and kinds >= 2
