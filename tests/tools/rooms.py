#!/usr/bin/env python3
"""Checks how the tree is divided: rooms.py (no arguments).

No folder holds more than 25 files: more of a kind have a division of their own, and whoever looks for one of them finds
it by that. A source (.cpp, .hpp) has 400 lines at most; at most 60 sources have fewer than 40 lines, since a file is a
whole room; the median is 90 to 160. Counted are the files that git tracks, and those that it would add.
Prints what breaks a rule, and exits 1 where anything does.
"""

import collections
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_FILES = 25
MOST_LINES = 400
FEW_LINES, MOST_SHORT = 40, 60
MEDIAN = (90, 160)


def files():
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {pathlib.PurePosixPath(name) for name in listed.split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


def findings(names):
    folders = collections.Counter(name.parent for name in names)
    for folder, count in sorted(folders.items()):
        if count > MOST_FILES:
            yield f"{folder}: {count} files, at most {MOST_FILES}"
    lines = {name: (ROOT / name).read_bytes().count(b"\n") for name in names if name.suffix in (".cpp", ".hpp")}
    for name, count in lines.items():
        if count > MOST_LINES:
            yield f"{name}: {count} lines, at most {MOST_LINES}"
    short = sorted(name for name, count in lines.items() if count < FEW_LINES)
    if len(short) > MOST_SHORT:
        yield f"{len(short)} sources below {FEW_LINES} lines, at most {MOST_SHORT}: " + ", ".join(map(str, short))
    median = statistics.median(lines.values())
    if not MEDIAN[0] <= median <= MEDIAN[1]:
        yield f"sources have {median} lines in the median, not {MEDIAN[0]} to {MEDIAN[1]}"


def main():
    names = files()
    found = list(findings(names))
    folders = {name.parent for name in names}
    print("\n".join(found) if found else f"{len(names)} files in {len(folders)} folders: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
