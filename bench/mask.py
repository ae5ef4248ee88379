"""How well and how fast masking works: recall, false hits on real runs, speed, hostile text.

    python -m bench.mask [--seed N] [--misses]

The corpus of made-up secrets is built by `masking/make_corpus.py` of AGENTDESK_SHARED with the
seed; rules are worked out on other seeds. Real runs are the files of its `corpus/`: every hit in
them is printed, to be judged by eye, and is false unless `JUDGED` says why not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.figures import Figure, over, under
from transcripts.importers import read_runs
from transcripts.masking import MaskedText, Masker, engine, masked_text
from transcripts.masking.records import mapped
from transcripts.record import RunRecord

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("AGENTDESK_SHARED") or ROOT.parent / "shared")
# Never used while rules are worked out.
SEED = 90_210
TARGETS = {"A_token": 0.99, "A_ctx": 0.98, "B_struct": 0.98, "D_encoded": 0.95, "C_prose": 0.85}
KEY = b"a key for measurements, no secret"
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
# A span counts as found when this part of its characters is masked.
COVERED = 0.9
# Right hits in real runs, by the start of the value's SHA-256: the values are not ours to copy.
JUDGED = {
    "a39095fe3a3f543d": "the password of a capture-the-flag task, told as one",
    "2d6bcce9707ad907": "the secret of a capture-the-flag task, told as one",
    "e5b87379a5e931d3": "the password of a capture-the-flag task, told as one",
    "9dc810919cc61dbb": "the password of a capture-the-flag task, told as one",
    "ee9674e2a09dc2fc": "the password of a capture-the-flag task, told as one",
}


def masker(run: str = "bench") -> Masker:
    return Masker(key=KEY, project="bench", run=run)


def main(arguments: list[str]) -> int:
    """Print the figures; answers 1 if one misses its target."""
    parser = argparse.ArgumentParser(prog="bench.mask")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--misses", action="store_true", help="print each missed secret")
    options = parser.parse_args(arguments)
    if not (SHARED / "masking" / "make_corpus.py").exists():
        print(f"mask: no {SHARED / 'masking'}: set AGENTDESK_SHARED; nothing measured")
        return 0
    engine.load()
    figures = [
        *quality(made_up(options.seed), show=options.misses),
        *real_runs(),
        *speed(),
        *hostile(),
    ]
    for figure in figures:
        print(figure)
    return int(any(figure.met is False for figure in figures))


def made_up(seed: int) -> list[dict[str, Any]]:
    """The corpus of made-up secrets with this seed."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "corpus.jsonl"
        script = SHARED / "masking" / "make_corpus.py"
        command = [sys.executable, str(script), str(out), str(seed)]
        subprocess.run(command, check=True, capture_output=True)
        return [json.loads(line) for line in out.read_text().splitlines()]


def quality(documents: list[dict[str, Any]], *, show: bool = False) -> Iterator[Figure]:
    """Recall by split, precision, the part of look-alikes that was masked. E-mail is a choice."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    touched: Counter[str] = Counter()
    true = false = unstable = 0
    for document in documents:
        text, split = document["text"], document["split"]
        masked, spans = masker().spans(text)
        unstable += masker().text(str.__str__(masked)) != masked
        covered = marks(len(text), [(span.start, span.end) for span in spans])
        gold = marks(len(text), [(start, end) for start, end, _kind in document["spans"]])
        for start, end, kind in document["spans"]:
            name = f"{split} {kind}" if split == "E_pii" else split
            total[name] += 1
            if sum(covered[start:end]) >= COVERED * (end - start):
                found[name] += 1
            elif show and kind != "email":
                print(f"missed {name} {kind}: {text[max(0, start - 30) : end + 10]!r}"[:160])
        mails = [match.span() for match in EMAIL.finditer(text)]
        for span in spans:
            hit = any(gold[span.start : span.end])
            mail = any(a <= span.start and span.end <= b for a, b in mails)
            true += hit
            false += not hit and not mail
        touched[split] += bool(spans)
    for name in sorted(total):
        share = 100 * found[name] / total[name]
        goal = 100 if name in ("E_pii card", "E_pii iban") else 100 * TARGETS.get(name, 0)
        label = f"recall {name}, {total[name]} secrets"
        yield over(label, [share], goal, "%") if goal else Figure(label, [share], "% (a choice)")
    yield Figure("precision", [100 * true / max(1, true + false)], "%")
    alike = [split for split in touched if split.startswith("N_")]
    counts = Counter(document["split"] for document in documents)
    share = 100 * sum(touched[split] for split in alike) / sum(counts[split] for split in alike)
    yield Figure("look-alikes masked", [share], "%", "0.5 % or less", share <= 0.5)
    yield Figure("texts changed by masking twice", [unstable], "", "0", unstable == 0)


def marks(length: int, places: list[tuple[int, int]]) -> bytearray:
    """One byte a character, 1 where a place covers it."""
    covered = bytearray(length)
    for start, end in places:
        covered[start:end] = b"\1" * (min(end, length) - start)
    return covered


def real_texts() -> Iterator[tuple[str, str]]:
    """Names and texts of other people's runs: each file, or each line of a file of lines."""
    for path in sorted((SHARED / "corpus").rglob("*")):
        if not path.is_file() or path.suffix == ".md" or "LICENSE" in path.name:
            continue
        name = str(path.relative_to(SHARED / "corpus"))
        if path.suffix == ".eval":
            for text in imported_texts(path):
                yield name, text
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for piece in text.splitlines() if path.suffix == ".jsonl" else [text]:
            yield name, piece


def imported_texts(path: Path) -> list[str]:
    """Each text of the runs in a file that is no text itself."""
    texts: dict[str, None] = {}

    def seen(text: str) -> MaskedText:
        texts[text] = None
        return masked_text("")

    for run in read_runs(path.read_bytes(), default_run_id=path.stem):
        if isinstance(run, RunRecord):
            mapped(run, seen, seen)
    return list(texts)


def real_runs() -> Iterator[Figure]:
    """False hits in real runs, with every hit printed, and how fast long texts are masked."""
    characters = hits = 0
    taken = 0.0
    for name, text in real_texts():
        started = time.thread_time()
        _masked, spans = masker().spans(text)
        taken += time.thread_time() - started
        characters += len(text)
        for span in spans:
            value = text[span.start : span.end]
            reason = JUDGED.get(hashlib.sha256(value.encode()).hexdigest()[:16])
            hits += reason is None
            verdict = f"right: {reason}" if reason else "false?"
            print(f"masked in {name} by {span.rule}: {value[:80]!r} ({verdict})")
    per_mb = hits / (characters / 1e6)
    label = f"false hits per MB in {characters / 1e6:.1f} MB of real runs, listed above"
    yield Figure(label, [per_mb], "", "1 or less", per_mb <= 1)
    yield over("long texts (whole files)", [characters / 1e6 / taken], 1.5, "MB/s of CPU")


def speed() -> Iterator[Figure]:
    """Messages of 2 KB cut from real runs, each by a masker of its own."""
    messages = [
        text[start : start + 2048]
        for _name, text in real_texts()
        for start in range(0, len(text), 16_384)
    ]
    taken = []
    for message in messages:
        one = masker()
        started = time.thread_time()
        one.text(message)
        taken.append(time.thread_time() - started)
    taken.sort()
    rate = sum(map(len, messages)) / 1e6 / sum(taken)
    yield over(f"messages of 2 KB, {len(messages)} of them", [rate], 1.5, "MB/s of CPU")
    yield Figure("a message of 2 KB, median", [1000 * statistics.median(taken)], "ms")
    yield under("a message of 2 KB, 99 of 100", [1000 * taken[len(taken) * 99 // 100]], 10, "ms")


HOSTILE = (
    "password=",
    "password= ",
    'password="',
    "my password is ",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "https://a:b@c ",
    "ghp_IqRfN7nCg1sZ4vK9yWbX0aTu8oEhLd2JmPxS ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "&amp;",
    "%41",
    "\\u0041",
    "a\u200b",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo= ",
    "| password |\n",
    "<password>",
    "Cookie: sid=1; ",
    "4111 1111 1111 1111 ",
    "[SECRET:",
    "{",
    "\\",
)


def hostile() -> Iterator[Figure]:
    """The slowest of 1 MB texts that are made to be slow."""
    slowest, which = 0.0, ""
    for piece in HOSTILE:
        text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
        one = masker()
        started = time.thread_time()
        one.text(text)
        taken = time.thread_time() - started
        if taken > slowest:
            slowest, which = taken, piece
    yield under(
        f"1 MB of {len(HOSTILE)} hostile texts, slowest ({which!r})", [slowest], 2, "s of CPU"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
