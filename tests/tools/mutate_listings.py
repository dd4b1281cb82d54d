#!/usr/bin/env python3
"""Hostile listings through the finished program: none may crash it, hang it or make it eat memory.

  python3 tests/tools/mutate_listings.py --noteg build/release/bin/noteg --count 3000 LAUNCHES.csv LISTING.sass.gz ...

Each run takes one kernel's excerpt of a listing and truncates it, flips bytes, swaps, repeats or drops lines, or mixes
two listings. A run fails when it ends by a signal, takes over 10 s, or passes 1 GB of address space; such listings are
kept beside. The same seed makes the same listings.
"""
import argparse, csv, gzip, os, random, resource, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stall_stacks import GPU, launch_file

MOST_SECONDS, MOST_BYTES = 10, 1 << 30


def kernels_of(path):
    """Text of each kernel of a listing, by name."""
    text = gzip.open(path, "rt").read() if path.endswith(".gz") else open(path).read()
    out, name, lines = {}, None, []
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith((".section", "//---")) and ".text." in line:
            if name:
                out[name] = lines
            name, lines = line.split(".text.")[1].split()[0].split(",")[0].strip('"'), []
        lines.append(line)
    if name:
        out[name] = lines
    return out


def mutated(chance, lines, others):
    lines = list(lines)
    for _ in range(chance.choice([1, 1, 2, 4, 16])):
        if not lines:
            break
        a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
        kind = chance.randrange(8)
        if kind == 0:
            del lines[a:]
        elif kind == 1:
            lines[a], lines[b] = lines[b], lines[a]
        elif kind == 2:
            del lines[a]
        elif kind == 3:
            lines[a:a] = lines[b:b + chance.choice([1, 4, 64])]
        elif kind == 4:
            text = list(lines[a])
            for _ in range(chance.choice([1, 3, 10])):
                text[chance.randrange(len(text))] = chr(chance.randrange(1, 256))
            lines[a] = "".join(text)
        elif kind == 5:
            digits = [i for i, c in enumerate(lines[a]) if c in "0123456789abcdef"]
            if digits:
                at = chance.choice(digits)
                lines[a] = lines[a][:at] + chance.choice("0123456789abcdef") + lines[a][at + 1:]
        elif kind == 6:
            lines[a] = lines[a][:chance.randrange(len(lines[a]))] + "\n"
        else:
            other = chance.choice(others)
            at = chance.randrange(len(other))
            lines[a:a] = other[at:at + chance.choice([1, 8, 100])]
    return "".join(lines).encode("latin-1", "replace")


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noteg", default="build/release/bin/noteg")
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="findings", help="folder for listings that fail")
    parser.add_argument("launches"), parser.add_argument("listings", nargs="+")
    options = parser.parse_args()
    rows = {}
    for row in csv.DictReader(open(options.launches)):
        text = launch_file(row)
        if text:
            rows.setdefault(row["kernel"], text)  # the smallest launch of each comes first
    excerpts = [(name, lines) for path in options.listings for name, lines in kernels_of(path).items() if name in rows]
    if not excerpts:
        sys.exit("no kernel of these launches stands in the listings")
    chance = random.Random(options.seed)
    findings, refused, slowest = 0, 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        listing, launch = os.path.join(folder, "kernel.sass"), os.path.join(folder, "launch.yaml")
        for i in range(options.count):
            name, lines = chance.choice(excerpts)
            text = mutated(chance, lines, [each for _, each in excerpts])
            open(listing, "wb").write(text)
            open(launch, "w").write(rows[name])
            began, why = time.monotonic(), ""
            try:
                done = subprocess.run([options.noteg, "simulate", "--arch", GPU, "--sass", listing, "--launch", launch],
                                      capture_output=True, timeout=MOST_SECONDS, preexec_fn=limited)
                refused += done.returncode != 0
                if done.returncode < 0 or done.returncode > 2:
                    why = f"ended with {done.returncode}: {done.stderr[-200:]}"
                elif done.returncode != 0 and not done.stderr.strip():
                    why = "refused without a word"
            except subprocess.TimeoutExpired:
                why = f"over {MOST_SECONDS} s"
            slowest = max(slowest, time.monotonic() - began)
            if why:
                findings += 1
                os.makedirs(options.keep, exist_ok=True)
                open(os.path.join(options.keep, f"{options.seed}_{i}_{name}.sass"), "wb").write(text)
                print(f"{i} {name}: {why}", flush=True)
    print(f"{options.count} listings, {refused} refused, {findings} findings, slowest {slowest:.1f} s")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
