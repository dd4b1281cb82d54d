#!/usr/bin/env python3
"""Runs the program many times with random inputs of every kind, good and bad, and holds each process against what is
promised: exit status 0, 1 or 2 and no signal, so much memory and time at most, output where it says that all went
well, a reason where it says otherwise, and no figure in a result that is none.

  tests/fuzz/processes.py --noteg build/release/bin/noteg --count 5000 --jobs 2 --seed 1

Run I of seed S is the same everywhere: --only I repeats it. Folders of runs that broke a promise are kept, with the
command. The last line sums up; exit status 1 where a promise was broken."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from other_inputs import OtherInputs as Inputs  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SWEEP = """method: random
rows: 12
seed: 1
gpus: [l4, tiny]
perturb:
  copies: 1
  factors:
    all: [0.9, 1.1]
shape:
  m: {from: 64, to: 512, scale: log, multiple_of: 8}
  n: [128, 256]
  k: [64, 512]
kernels:
  - family: simt
    tile: [64x64x8, 128x64x8]
    stages: [2, 4]
  - kernel_name: [ampere_sgemm_64x64_nn]
labels: [a, b]
"""
# Commands that simulate many kernels may take as many times the time of one.
LONGER = {"workload": 6, "adapt": 6}
# What a command that went well leaves, beside what it prints.
OUTPUTS = {"generate": "--out", "train": "--out", "calibrate": "--out", "export": "--out"}


class Promises:
    def __init__(self, options):
        self.seconds, self.bytes = options.seconds, options.memory * 1e6

    def broken(self, words, folder, status, seconds, peak, out, err):
        """What the process broke, as words; nothing where it kept all promises."""
        if seconds > self.seconds * LONGER.get(words[0], 1):
            return f"took {seconds:.1f} s"
        if os.WIFSIGNALED(status):
            return f"signal {os.WTERMSIG(status)}"
        code = os.WEXITSTATUS(status)
        if code not in (0, 1, 2):
            return f"exit status {code}"
        if peak > self.bytes:
            return f"{peak / 1e6:.0f} MB"
        if code != 0:
            return None if err.strip() else f"exit status {code} without a reason"
        if any(path.is_symlink() for path in folder.glob("full.*")):
            return "exit status 0 though a file could not be written"
        if "--dry-run" not in words and words[0] in OUTPUTS:
            target = folder / words[words.index(OUTPUTS[words[0]]) + 1]
            return None if target.is_file() and target.stat().st_size > 0 else "exit status 0 without its file"
        if not out.strip() and not any(path.name.startswith("out") for path in folder.iterdir()):
            return "exit status 0 without output"
        if words[0] == "serve":
            return self.bad_answers((folder / ".in").read_bytes(), out)
        return self.bad_figures(words, out)

    @staticmethod
    def bad_answers(asked, out):
        """Each line that is not empty has one answer, a JSON object with a status."""
        lines = [line for line in asked.split(b"\n") if line.strip()]
        try:
            answers = [json.loads(line) for line in out.split("\n") if line.strip()]
        except ValueError as error:
            return f"an answer that is no JSON: {error}"
        if any(answer.get("status") not in (0, 1, 2) for answer in answers):
            return "an answer without a status"
        return None if len(lines) == len(answers) else f"{len(answers)} answers to {len(lines)} requests"

    @staticmethod
    def bad_figures(words, out):
        if words[0] != "simulate" or "json" not in words or "--asm" in words:
            return None
        try:
            report = json.loads(out, parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name)))
        except ValueError as error:
            return f"JSON that is none: {error}"
        if not isinstance(report, dict) or "time_us" not in report:
            return None
        return None if report["time_us"] and 0 < report["time_us"] < 1e18 else f"a time of {report['time_us']} us"


def run(noteg, words, folder, seconds):
    """Exit status as of wait(), seconds, peak bytes, output, messages. The seconds are those of the processor, since a
    machine may be busy; what waits for ever is ended after sixty times as many on the clock on the wall."""
    with open(folder / ".out", "wb") as out, open(folder / ".err", "wb") as err:
        given = open(folder / ".in", "rb") if (folder / ".in").exists() else subprocess.DEVNULL
        process = subprocess.Popen([noteg, *words], cwd=folder, stdin=given, stdout=out, stderr=err)
        # Far beyond what is promised: a machine that swaps would slow down the other runs.
        resource.prlimit(process.pid, resource.RLIMIT_AS, (4 << 30, 4 << 30))
        limit = int(seconds) + 1
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit + 1))
        timer = threading.Timer(seconds * 60, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = 0  # waited for already
    with open(folder / ".out", "rb") as out, open(folder / ".err", "rb") as err:
        texts = [file.read(1 << 24).decode("utf-8", "replace") for file in (out, err)]
    ended = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU)
    used = seconds + 1 if ended else usage.ru_utime + usage.ru_stime
    return status, used, usage.ru_maxrss * 1024, *texts


def seeds(noteg, folder):
    """A small sweep, its data sets and a model: what files of these kinds are mutations of."""
    (folder / "sweep.yaml").write_text(SWEEP)

    def must(*words):
        subprocess.run([noteg, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    must("generate", "--sweep", "sweep.yaml", "--out", "seed.db")
    must("dataset", "export", "seed.db", "--out", "seed.csv")
    must("train", "--data", "seed.csv", "--out", "model.json", "--trees", "3", "--validate", "none")
    return {"sweep": folder / "sweep.yaml", "database": folder / "seed.db", "table": folder / "seed.csv",
            "model": folder / "model.json"}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noteg", default=str(ROOT / "build/release/bin/noteg"), help="the program")
    parser.add_argument("--count", type=int, default=1000, help="processes (1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the inputs (1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first run (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    parser.add_argument("--seconds", type=float, default=10, help="most time of one process (10)")
    parser.add_argument("--memory", type=float, default=1000, help="most memory of one process, in MB (1000)")
    parser.add_argument("--commands", help="only these kinds, with commas: " + ", ".join(Inputs.WEIGHTS))
    parser.add_argument("--only", type=int, help="this run alone, its files kept")
    parser.add_argument("--out", help="folder of what is kept (a temporary one)")
    return parser.parse_args()


def main():
    asked = options()
    noteg = str(pathlib.Path(asked.noteg).resolve())
    work = pathlib.Path(asked.out or tempfile.mkdtemp(prefix="noteg_processes_")).resolve()
    (work / "seeds").mkdir(parents=True, exist_ok=True)
    inputs = Inputs(ROOT, seeds(noteg, work / "seeds"))
    if asked.commands:
        inputs.WEIGHTS = {kind: 1 for kind in asked.commands.split(",")}
    promises = Promises(asked)

    def one(number):
        folder = work / f"run_{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        kind, words = inputs.draw(random.Random(f"{asked.seed}:{number}"), folder)
        status, used, peak, out, err = run(noteg, words, folder, asked.seconds * LONGER.get(words[0], 1))
        broken = promises.broken(words, folder, status, used, peak, out, err)
        if not broken and asked.only is None:
            shutil.rmtree(folder)
        return number, kind, words, status, used, peak, broken

    numbers = [asked.only] if asked.only is not None else range(asked.first, asked.first + asked.count)
    results, found = collections.Counter(), 0
    slowest, largest, total = (0, None), (0, None), 0
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for number, kind, words, status, used, peak, broken in pool.map(one, numbers):
            slowest = max(slowest, (used, number), key=lambda pair: pair[0])
            largest = max(largest, (peak, number), key=lambda pair: pair[0])
            total += used
            results[os.WEXITSTATUS(status) if os.WIFEXITED(status) else "signal"] += 1
            if broken or asked.only is not None:
                found += broken is not None
                print(f"run {number} ({kind}): {broken or status}\n  cd {work}/run_{number} && "
                      f"{noteg} {shlex.join(words)}", flush=True)
    print(f"{len(numbers)} processes, {found} broke a promise; exit status " +
          ", ".join(f"{code}: {count}" for code, count in sorted(results.items(), key=str)) +
          f"; slowest {slowest[0]:.1f} s (run {slowest[1]}), mean {1e3 * total / len(numbers):.0f} ms, largest "
          f"{largest[0] / 1e6:.0f} MB (run {largest[1]}); seed {asked.seed}; {work}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
