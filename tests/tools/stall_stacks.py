#!/usr/bin/env python3
"""Stall samples of a profiler beside those of the model, by launch, reason and instruction.

  python3 tests/tools/stall_stacks.py --noteg build/release/bin/noteg LAUNCHES.csv STALLS.csv.gz LISTING.sass.gz

LAUNCHES has a row per launch (docs/compiled-kernels.md), STALLS a row per launch and instruction as Nsight Compute's
source page exports it. Printed for each launch: half of the summed differences between the shares of reasons, how
many of the ten instructions with most samples are among the model's first fifteen, and the shares that differ most.
"""
import argparse, collections, csv, gzip, os, subprocess, sys, tempfile

GPU = "h200-sxm-141gb"
ARGUMENT = {"i": "i32", "l": "i64", "f": "f32"}


def rows_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        return list(csv.DictReader(file))


def launch_file(row):
    def dims(text):
        return "[" + ", ".join(text.split("x")) + "]"

    args = []
    for each in row["args"].split():
        kind, value = each.split("=", 1)
        if kind == "p":
            name, size, content = value.split(":")
            args.append(f"{{buffer: {name}, bytes: {size} B, content: {content}}}")
        elif kind in ARGUMENT:
            args.append(f"{{{ARGUMENT[kind]}: {value}}}")
        else:
            return None
    lines = [f"kernel: {row['kernel']}", f"grid: {dims(row['grid'])}", f"block: {dims(row['block'])}",
             f"dynamic_shared: {row['dynamic_shared']} B", f"static_shared: {row['static_shared']} B",
             f"registers: {row['regs']}", "args: [" + ", ".join(args) + "]"]
    return "\n".join(lines) + "\n"


def predicted(noteg, row, listing, overrides=()):
    text = launch_file(row)
    if text is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        launch, out = os.path.join(folder, "launch.yaml"), os.path.join(folder, "stalls.csv")
        with open(launch, "w") as file:
            file.write(text)
        done = subprocess.run([noteg, "simulate", "--arch", GPU, "--sass", listing, "--launch", launch, "--clock",
                               f"{float(row['sm_clock_mhz']):.0f} MHz", "--stalls", out, *(word for each in overrides for word in ("--set", each))],
                              capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            sys.exit(row["launch"] + ": " + done.stderr)
        return rows_of(out)


def by_reason(rows):
    sums = collections.Counter()
    for row in rows:
        for name, value in row.items():
            if name.startswith("stall_"):
                sums[name[6:]] += float(value or 0)
    total = sum(sums.values()) or 1
    return {name: value / total for name, value in sums.items()}


def most(rows, count):
    ranked = sorted(rows, key=lambda row: -float(row["samples"] or 0))
    return [int(row["address"], 16) for row in ranked[:count]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noteg", default="build/release/bin/noteg")
    parser.add_argument("--launch", default="", help="only launches whose name holds this")
    parser.add_argument("--instructions", type=int, default=0, help="so many instructions of each launch as well")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE, as of noteg simulate")
    parser.add_argument("--least-samples", type=int, default=1000)
    parser.add_argument("launches"), parser.add_argument("stalls"), parser.add_argument("listing")
    options = parser.parse_args()
    measured = collections.defaultdict(list)
    for row in rows_of(options.stalls):
        measured[row["launch"]].append(row)
    distances, hits, all_reasons = [], [], collections.defaultdict(list)
    for row in rows_of(options.launches):
        mine = measured.get(row["launch"], [])
        samples = sum(float(each["samples"] or 0) for each in mine)
        if options.launch not in row["launch"] or samples < options.least_samples:
            continue
        model = predicted(options.noteg, row, options.listing, options.set)
        if model is None:
            continue
        a, b = by_reason(mine), by_reason(model)
        reasons = sorted(set(a) | set(b), key=lambda name: -abs(a.get(name, 0) - b.get(name, 0)))
        distance = 0.5 * sum(abs(a.get(name, 0) - b.get(name, 0)) for name in reasons)
        found = len(set(most(mine, 10)) & set(most(model, 15)))
        distances.append(distance), hits.append(found)
        for name in reasons:
            all_reasons[name].append(b.get(name, 0) - a.get(name, 0))
        differ = ", ".join(f"{name} {100 * a.get(name, 0):.0f} {100 * b.get(name, 0):.0f}" for name in reasons[:6])
        print(f"{row['launch']:34} {samples:8.0f} samples  distance {distance:.3f}  {found:2} of 10   {differ}")
        of_model = {int(each["address"], 16): each for each in model}
        total = sum(float(each["samples"]) for each in model) or 1

        def described(each, whole):
            parts = sorted(((float(v or 0), k[6:]) for k, v in each.items() if k.startswith("stall_")), reverse=True)
            return ", ".join(f"{k} {100 * v / whole:.1f}" for v, k in parts[:4] if v > 0)

        shown = most(mine, options.instructions)
        shown += [at for at in most(model, options.instructions) if at not in shown]
        by_address = {int(each["address"], 16): each for each in mine}
        for at in shown if options.instructions else []:
            x, y = by_address[at], of_model[at]
            print(f"    {at:04x} {x['sass'][:44]:44} {100 * float(x['samples']) / samples:5.1f} "
                  f"[{described(x, samples)}]  | {100 * float(y['samples']) / total:5.1f} [{described(y, total)}]")
    if not distances:
        sys.exit("no launch of these tables has samples")
    worst = sorted(all_reasons, key=lambda name: -sum(map(abs, all_reasons[name])))
    print(f"\n{len(distances)} launches: distance {sum(distances) / len(distances):.3f} in the mean, "
          f"{sum(found >= 7 for found in hits)} with seven of ten or more, {sum(hits) / len(hits):.1f} in the mean")
    print("mean difference, model less measured, in points: " +
          ", ".join(f"{name} {100 * sum(all_reasons[name]) / len(distances):+.1f}" for name in worst[:10]))


if __name__ == "__main__":
    main()
