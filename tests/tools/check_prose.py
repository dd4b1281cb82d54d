#!/usr/bin/env python3
"""Checks the prose of the documentation: check_prose.py [FILE ...] (all pages if none).

Prints file:line: what, and exits 1 where it finds any of: a line above 120 characters, a sentence above 25 words,
a page of docs/ without a picture, a word that the field does not use (docs/reference/glossary.md says which it uses).
Tables, code blocks and blocks that the program writes are not prose.
"""

import pathlib
import re
import sys

from words import WORDS

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST_LINE = 120
LONGEST_SENTENCE = 25
# Written by the program: their text stands in tables of the sources.
GENERATED = {"architecture-reference.md", "kernel-reference.md", "report-reference.md", "dataset-reference.md",
             "switches.md", "validation.md", "library-catalogue.md", "leave-one-out.md", "measured-files.md"}


def prose(text):
    """(line number, paragraph) of what is neither table, code, heading nor made by the program."""
    paragraph, start, code, made = [], 0, False, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            code = not code
        if re.match(r"<!-- (\w+:begin|output)", line):
            made = True
        if re.match(r"<!-- (\w+:end|/output)", line):
            made = False
        plain = line.strip()
        skipped = code or made or plain.startswith(("|", "#", "```", "![", "<"))
        new_item = re.match(r"([-*]|\d+\.) ", plain)
        if paragraph and (skipped or not plain or new_item):
            yield start, " ".join(paragraph)
            paragraph = []
        if not skipped and plain:
            if not paragraph:
                start = number
            paragraph.append(plain)
    if paragraph:
        yield start, " ".join(paragraph)


def sentences(paragraph):
    plain = re.sub(r"`[^`]*`", "code", paragraph)
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    plain = re.sub(r"\b(e\.g|i\.e|cf|vs|etc)\.", r"\1", plain)
    return re.split(r"(?<=[.!?:;])\s+", plain)


def findings(path):
    text = path.read_text(encoding="utf-8")
    shown = path.relative_to(ROOT)
    made = path.name in GENERATED
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            code = not code
        if len(line) > LONGEST_LINE and not code and not made and not line.lstrip().startswith(("|", "![", "`")):
            yield f"{shown}:{number}: line of {len(line)} characters, at most {LONGEST_LINE}"
    if path.parent.name in ("docs", "reference") and not made and path.name != "glossary.md" and "![" not in text:
        yield f"{shown}:1: no picture"
    for number, paragraph in () if made else prose(text):
        for sentence in sentences(paragraph):
            words = len(re.findall(r"[\w'./%-]+", sentence))
            if words > LONGEST_SENTENCE:
                yield f"{shown}:{number}: sentence of {words} words, at most {LONGEST_SENTENCE}: {sentence[:60]}"
        words = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", paragraph))
        for better, word, _ in WORDS:
            if found := re.search(word, words):
                yield f"{shown}:{number}: \"{found.group(0)}\": the field says {better}"


def main():
    pages = [pathlib.Path(each).resolve() for each in sys.argv[1:]] or sorted(
        [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("examples/*/README.md")])
    found = [each for page in pages for each in findings(page)]
    print("\n".join(found) if found else f"{len(pages)} pages: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
