#!/usr/bin/env python3
"""Two benchmark files side by side.

usage: compare.py OLD.json NEW.json [--limit PERCENT]

Prints each benchmark of both with the ratio of processor times. With --limit the exit status is 1 where one takes more than so
many per cent longer than before.
"""
import argparse
import json
import sys


def times(path):
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)["benchmarks"]
    key = lambda run: "real_time" if "/real_time" in run["name"] else "cpu_time"
    return {run["name"]: (run[key(run)], run["time_unit"]) for run in runs if not run.get("error_occurred")}


def main():
    parser = argparse.ArgumentParser(description="two benchmark files side by side")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--limit", type=float, metavar="PERCENT")
    arguments = parser.parse_args()
    old, new = times(arguments.old), times(arguments.new)
    slower = []
    print(f"{'benchmark':<56}{'before':>12}{'now':>12}{'ratio':>8}")
    for name in sorted(old.keys() & new.keys()):
        ratio = new[name][0] / old[name][0] if old[name][0] > 0 else 1.0
        print(f"{name:<56}{old[name][0]:>9.2f} {old[name][1]}{new[name][0]:>9.2f} {new[name][1]}{ratio:>8.2f}")
        if arguments.limit is not None and ratio > 1 + arguments.limit / 100:
            slower.append(name)
    for name in sorted(old.keys() ^ new.keys()):
        print(f"{name:<56}  only in {'the first' if name in old else 'the second'}")
    if slower:
        print(f"slower by more than {arguments.limit:g} %: {', '.join(slower)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
