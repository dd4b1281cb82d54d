#!/usr/bin/env python3
"""Few rows of a card: the table of docs/learning.md, and models/adapt/other_gpus.csv.

  few_shot.py NOTEG OUT ROWS.csv[.gz] ...

Of every source and GPU of the measured files up to 400 rows of at least 20 us are drawn and simulated (OUT/*.csv).
The first thirteen sets of 40 rows each make OUT/other_gpus.csv, which stands in for the one that comes with the
program. `noteg adapt --curve` then tells each set's error after 10, 50 and 200 rows; rows of the GPU's own name are
left out of the others. The table goes to standard output. Takes some minutes.
"""
import collections
import csv
import gzip
import json
import pathlib
import random
import subprocess
import sys

ROWS, SHARED, SEED, LEAST_MS = 400, 40, 38, 0.02
LEFT_OUT = {"measured", "gpperf_cutlass", "gpperf_naive"}  # kernels of one hand: nothing that other GPUs share


def drawn_sets(files):
    sets = collections.defaultdict(list)
    for file in files:
        opened = gzip.open(file, "rt") if file.endswith(".gz") else open(file)
        for row in csv.DictReader(opened):
            if row.get("time_ms") and float(row["time_ms"]) >= LEAST_MS:
                sets[row["source"].split("_power")[0].split("_uninit")[0], row["gpu"]].append(row)
    for key, rows in sorted(sets.items()):
        random.Random(SEED).shuffle(rows)
        if len(rows) >= 100:
            yield key, rows[:ROWS]


def write(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def simulated(noteg, out, key, rows):
    name = "_".join(key).replace(" ", "-")
    asked, table = out / f"{name}.rows.csv", out / f"{name}.csv"
    write(asked, list(rows[0]), rows)
    subprocess.run([noteg, "train", "--residual", "--data", asked, "--out", out / "unused.json", "--table", table,
                    "--trees", "10", "--folds", "2"], check=True, capture_output=True)
    return table


def curve(noteg, table, prior):
    arch = next(csv.DictReader(open(table)))["arch"]
    done = subprocess.run([noteg, "adapt", "--arch", arch, "--data", table, "--curve", "--no-constants", "--prior",
                           prior, "--format", "json", "--quiet"], check=True, capture_output=True, text=True)
    return arch, {point["rows"]: point for point in json.loads(done.stdout)}


def line(source, arch, points):
    def percent(rows, key):
        return f"{100 * points[rows][key]:.1f} %" if rows in points else "-"

    plain = ", ".join(f"{100 * p['plain_mape']:.0f}" for p in points.values())
    inside = ", ".join(f"{100 * share:.0f}" for share in points[50]["inside"]) if 50 in points else "-"
    adapted = " | ".join(percent(rows, "adapted_mape") for rows in (10, 50, 200))
    return (f"| {source} | {arch} | {percent(10, 'simulator_mape')} | {adapted} | x {points[10]['worst_ratio']:.2f} "
            f"| {plain} % | {inside} |")


def main():
    noteg, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    tables = {key: simulated(noteg, out, key, rows) for key, rows in drawn_sets(sys.argv[3:])}
    columns = open(pathlib.Path(__file__).parents[2] / "models/adapt/other_gpus.csv").readline().strip().split(",")
    shared = []
    for (source, _), table in tables.items():
        rows = [dict(row, source=source) for row in csv.DictReader(open(table)) if row["time_ratio"]]
        if source not in LEFT_OUT:
            shared += random.Random(2).sample(rows, min(SHARED, len(rows)))
    prior = out / "other_gpus.csv"
    write(prior, columns, shared)
    for (source, _), table in tables.items():
        print(line(source, *curve(noteg, table, prior)), flush=True)


if __name__ == "__main__":
    main()
