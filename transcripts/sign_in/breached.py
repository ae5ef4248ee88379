"""Refuses passwords that are on a list of known ones, which stands in a file. Nothing is asked of
a service.

Two kinds of file are understood, told apart by the first line: SHA-1 digests in hexadecimal (whole,
or all cut to one length), sorted, each alone or before `:count`, as the Have I Been Pwned download
is; or plain passwords, one a line, in any order.
"""

from __future__ import annotations

import hashlib
import mmap
import re
from typing import IO

from django.core.exceptions import ValidationError

# Ten hexadecimal characters, 40 bits: shorter ones would refuse passwords that are on no list.
DIGEST_LINE = re.compile(rb"[0-9A-Fa-f]{10,40}(:\d+)?\s*$")


class BreachedPasswordValidator:
    """One of AUTH_PASSWORD_VALIDATORS; an empty `path` refuses nothing."""

    def __init__(self, path: str = "") -> None:
        self.path = path

    def validate(self, password: str, user: object = None) -> None:
        if self.path and is_listed(password, self.path):
            raise ValidationError(
                "This password is on a list of passwords that have leaked. Choose another one.",
                code="password_breached",
            )

    def get_help_text(self) -> str:
        return "Your password cannot be one that is known to have leaked." if self.path else ""


def is_listed(password: str, path: str) -> bool:
    """Whether the file at `path` has the password. Raises `OSError` where it cannot be read."""
    with open(path, "rb") as file:
        first = file.readline()
        if not first or not password:
            return False
        if DIGEST_LINE.match(first):
            digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
            return _has_digest(file, digest.encode())
        return _has_line(file, password.encode())


def _has_digest(file: IO[bytes], digest: bytes) -> bool:
    """Halve the file until one line is left: 36 steps for 40 GB."""
    low, high = 0, file.seek(0, 2)
    while low < high:
        middle = (low + high) // 2
        # To the first line that begins at the middle or behind it.
        file.seek(max(middle - 1, 0))
        if middle:
            file.readline()
        if file.tell() >= high:
            high = middle
            continue
        line = file.readline().split(b":")[0].strip().upper()
        if digest.startswith(line) and line:
            return True
        if line < digest:
            low = file.tell()
        else:
            high = middle
    return False


def _has_line(file: IO[bytes], password: bytes) -> bool:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.find(password)
        while at != -1:
            end = at + len(password)
            begins = at == 0 or content[at - 1 : at] == b"\n"
            if begins and content[end : end + 1] in (b"", b"\n", b"\r"):
                return True
            at = content.find(password, at + 1)
    return False
