#!/usr/bin/env python3
"""Processor time of `noteg simulate` as a whole process, on random shipped kernels, shapes and boards.

    tests/bench/process_times.py build/release/bin/noteg
    tests/bench/process_times.py build/release/bin/noteg --against OTHER   # pairs, run alternately

Prints median, 90 and 99 in 100, the worst, the peak of memory, and the slowest commands. The same seed gives the
same commands. User and system time are counted, since other work on the machine disturbs them least.
"""
import argparse
import glob
import os
import random
import re
import subprocess

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def shape(rng):
    def side():
        value = int(16 * 512 ** rng.random())  # 16 to 8192, even in the logarithm
        return rng.choice([value, (value + 7) // 8 * 8, (value + 63) // 64 * 64])

    return f"{side()}x{side()}x{side()}"


def commands(binary, count, rng):
    kernels = sorted(os.path.basename(path)[:-5] for path in glob.glob(os.path.join(TOP, "kernels/library/*.yaml")))
    listed = subprocess.run([binary, "arch", "list"], capture_output=True, text=True).stdout
    gpus = re.findall(r"(?m)^(\S+)\s+sm_", listed)
    hopper = [gpu for gpu in gpus if re.match("g?h[0-9]", gpu)]
    for _ in range(count):
        kernel = rng.choice(kernels)
        gpu = rng.choice(hopper if kernel.startswith("wgmma") else gpus)
        yield ["simulate", "--arch", gpu, "--kernel", kernel, "--shape", shape(rng)]


def cost(binary, command, jobs):
    """Seconds of processor time and peak MB; nothing where the command fails."""
    words = [binary, *command, "--jobs", jobs, "--format", "json"]
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = status
    return None if status else (used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--against", help="another binary: the same commands, in turns")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each command; the shortest counts")
    parser.add_argument("--slowest", type=int, default=10)
    parser.add_argument("--jobs", default="1")
    given = parser.parse_args()
    binaries = [os.path.abspath(path) for path in (given.binary, given.against) if path]
    found = [[] for _ in binaries]
    failed = 0
    for command in commands(binaries[0], given.count, random.Random(given.seed)):
        runs = [[] for _ in binaries]
        for _ in range(given.repeat):
            for binary, each in zip(binaries, runs):
                each.append(cost(binary, command, given.jobs))
        if None in sum(runs, []):
            failed += 1
            continue
        for each, all_of in zip(runs, found):
            all_of.append((*min(each), " ".join(command)))
    for binary, rows in zip(binaries, found):
        rows.sort(reverse=True)
        ms = [1000 * row[0] for row in reversed(rows)]
        at = [ms[min(len(ms) - 1, int(share * len(ms)))] for share in (0.5, 0.9, 0.99)]
        print(f"{binary}\n{len(ms)} commands ({failed} failed): median {at[0]:.1f}, p90 {at[1]:.1f}, p99 {at[2]:.1f}, "
              f"worst {ms[-1]:.1f}, mean {sum(ms) / len(ms):.1f} ms, {max(row[1] for row in rows):.0f} MB at most")
        for seconds, _, command in rows[:given.slowest]:
            print(f"{1000 * seconds:8.1f} ms  {command}")


if __name__ == "__main__":
    main()
