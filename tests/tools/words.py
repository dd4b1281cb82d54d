#!/usr/bin/env python3
"""The words of the field (docs/reference/glossary.md): says where code, comments and docs use a private word instead.

    tests/tools/words.py              # prints each line that has one; exit status 1 where there are more than `left` says
    tests/tools/words.py --count      # how many there are of each, by folder

A pattern meets the private sense only: `passes` of a compiler, a `claim` of a paper or an `environment variable` are
words of the field themselves. Words whose two senses no pattern tells apart (look, flow, front, spread, hold, judge)
are left to the reader. `left` counts what is still to be renamed: it may only fall.
"""
import argparse
import collections
import re
import subprocess
import sys

# say, not (as a regular expression), how many lines are left
WORDS = [
    ("iteration", r"(?<![A-Za-z])(?<!round[ _-])[Tt]rips?(?![A-Za-z])", 0),
    ("wave", r"\brounds? of CTAs\b", 0),
    ("fidelity: exact or sampled", r"\bgrades?\b|\brough (run|search|estimate)\b", 0),
    ("pilot run, sampling window", r"\b[Ff]irst looks?\b|\b[Gg]lances?\b|\bpatience\b|\bhaste\b|\bpace\b", 0),
    ("fast-forward", r"\b[Pp]ass(ed|es|ing)? over (iterations|cycles|trips|CTAs|it|them)\b|\bpassing over\b", 0),
    ("extrapolate", r"\btold from\b", 0),
    ("phase", r"\blie to each other\b", 0),
    ("memory port", r"\b[Ee]nvironments?\b(?![ _](variable|list|environment)|\{)(?! of (the|a) (user|shell|process))", 0),
    ("stall, blocking resource", r"\bheld by (a|an|the) \w+ (unit|pipe|queue)\b", 0),
    ("load imbalance, tail wave", r"\b[Rr]agged\b|\brest on top\b", 0),
    ("lockstep", r"\b(walk|walks|walking|are|stay) in step\b", 0),
    ("launch latency of a CTA", r"\b[Rr]elaunch(es|ed)?\b", 0),
    ("live range, register allocator", r"\b[Aa]llotments?\b", 0),
    ("basic block, two-iteration walk", r"\b[Ss]traight[ _](pieces?|code)\b|\bdouble[ _]trace\b", 0),
    ("variant, status, catalogue", r"\b[Cc]ontestants?\b|\b[Ff]ates?\b|\b[Mm]enus?\b|\bMenuKernel\b", 0),
    ("computed", r"\bworked out\b", 0),
    ("integer", r"\b[Ww]hole numbers?\b", 0),
    ("Boolean", r"\bset_truth\b", 0),
]

FILES = ["*.cpp", "*.hpp", "*.md", "*.py", "*.txt", "*.yaml", "*.mjs", "dev"]
# This list; the log of what was; measured names and messages of others.
EXCEPT = ["tests/tools/words.py", "CHANGELOG.md", "docs/reference/glossary.md", "tests/data/", "LICENSE"]


def tracked():
    names = subprocess.run(["git", "ls-files", "--", *FILES], capture_output=True, text=True, check=True).stdout.split("\n")
    return [name for name in names if name and not any(name.startswith(other) for other in EXCEPT)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", action="store_true")
    given = parser.parse_args()
    patterns = [(say, re.compile(pattern), left) for say, pattern, left in WORDS]
    found = collections.defaultdict(list)
    for name in tracked():
        try:
            with open(name, encoding="utf-8") as file:
                lines = file.readlines()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        for number, line in enumerate(lines, 1):
            for say, pattern, _ in patterns:
                match = pattern.search(line)
                if match:
                    found[say].append((name, number, match.group(0)))
    status = 0
    for say, _, left in patterns:
        hits = found[say]
        if given.count:
            folders = collections.Counter("/".join(name.split("/")[:2]) for name, _, _ in hits)
            print(f"{len(hits):4d} {say}: " + ", ".join(f"{f} {n}" for f, n in folders.most_common()))
            continue
        if len(hits) <= left:
            continue
        status = 1
        for name, number, word in hits:
            print(f"{name}:{number}: '{word}': say {say}")
        print(f"{len(hits)} lines, {left} allowed", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
