#!/usr/bin/env python3
"""Says whether a change left the program's output as it was, to the byte.

    tests/tools/same_output.py build/release/bin/noteg before.txt     # on the tree before
    tests/tools/same_output.py build/release/bin/noteg after.txt      # on the tree after
    diff before.txt after.txt                                         # a line for each command whose output differs

One line a command: a digest of its exit status, standard output and standard error, and the command. Most commands
are seeded `simulate` runs over all GPUs, families, types and shapes, good and bad; one in fifty is another command.
Small `validate` and `generate` runs are at the end. About two minutes of processor time for the 500 of the default.
"""
import argparse
import csv
import hashlib
import os
import random
import re
import subprocess
import tempfile

TENSOR_TYPES = ["f16", "bf16", "tf32", "s8", "f8e4m3", "s4", "mxfp8", "nvfp4"]
LAYOUTS = ["nn", "nt", "tn", "tt"]


def run(command, cwd=None):
    done = subprocess.run(command, capture_output=True, cwd=cwd, env={**os.environ, "NO_COLOR": "1"})
    text = done.stdout + b"\0" + done.stderr
    text = re.sub(rb'"wall_s": *[-0-9.e]+', b"", text)
    text = re.sub(rb"(?m)^.*(rows/s|wall time|seconds|[0-9.]+ s\b.*rows).*$", b"", text)
    return str(done.returncode).encode() + b"\0" + text


def words(binary, *arguments):
    out = subprocess.run([binary, *arguments], capture_output=True, text=True).stdout
    return out


def shape(rng):
    def side(high):
        kind = rng.random()
        if kind < 0.5:
            return rng.choice([64, 128, 256, 512, 1024, 2048, 4096])
        if kind < 0.96:
            return 16 * rng.randint(1, high // 16)
        return rng.randint(1, high)

    return f"{side(4096)}x{side(4096)}x{side(4096)}"


def some_family(rng):
    """A configuration of one family; some break a rule, and then the message counts."""
    f = rng.choice(["naive", "blocked", "clblast", "simt", "mma", "mma", "wgmma", "tcgen05", "triton", "attention"])
    out = ["--family", f]
    extra = {}
    if f == "naive":
        t = rng.choice([4, 8, 16, 16, 32, 32, 33])
        out += ["--tile", f"{t}x{t}x{t}"]
        if rng.random() < 0.3:
            extra["static_tile"] = "true"
    elif f == "blocked":
        out += ["--tile", rng.choice(["64x64x8", "128x128x8", "128x64x16", "32x32x16", "64x64x16", "62x64x8"])]
        extra["stages"] = rng.choice(["1", "1", "1", "2", "2", "2", "3"])
    elif f == "clblast":
        out += ["--tile", rng.choice(["64x64x32", "32x64x16", "128x64x32"]), "--layout", "tn"]
        extra["vwm"] = rng.choice(["1", "2", "4"])
        extra["kwi"] = rng.choice(["2", "8"])
    elif f == "simt":
        out += ["--tile", rng.choice(["128x128x8", "64x64x8", "256x128x8", "128x64x16", "32x128x8", "64x32x8"])]
        extra["flavor"] = rng.choice(["generic", "cutlass", "cublas", "xmma"])
        if rng.random() < 0.4:
            extra["stages"] = rng.choice(["2", "3", "4", "5"])
        if rng.random() < 0.1:
            extra["sliced_k"] = "2"
    elif f == "mma":
        out += ["--tile", rng.choice(["64x64x32", "128x128x32", "128x64x64", "256x128x32", "64x128x64", "16x64x64"])]
        out += ["--dtype", rng.choice(TENSOR_TYPES)]
        extra["flavor"] = rng.choice(["generic", "cutlass", "cublas", "xmma"])
        if rng.random() < 0.4:
            extra["stages"] = rng.choice(["1", "2", "3", "5"])
        if rng.random() < 0.15:
            extra["sparse"] = "true"
    elif f == "wgmma":
        out += ["--tile", rng.choice(["128x128x64", "64x128x64", "128x256x64", "64x64x64", "192x128x64"])]
        out += ["--dtype", rng.choice(["f16", "bf16", "f8e4m3", "s8", "tf32"])]
        if rng.random() < 0.5:
            extra["schedule"] = rng.choice(["ws", "coop", "pingpong"])
        if rng.random() < 0.5:
            extra["cluster"] = rng.choice(["1x1", "2x1", "1x2"])
    elif f == "tcgen05":
        out += ["--tile", rng.choice(["128x128x64", "128x256x64", "128x64x64", "64x128x64"])]
        out += ["--dtype", rng.choice(["f16", "bf16", "f8e4m3", "mxfp8", "nvfp4"])]
        if rng.random() < 0.5:
            extra["cluster"] = "2x1"
    elif f == "triton":
        out += ["--tile", rng.choice(["64x64x32", "128x128x32", "32x64x64", "128x64x64", "64x128x32", "48x64x32"])]
        out += ["--dtype", rng.choice(["f16", "bf16", "f32", "tf32"])]
        extra["num_stages"] = rng.choice(["1", "2", "3", "5"])
        extra["num_warps"] = rng.choice(["4", "8"])
    else:
        out += ["--dtype", rng.choice(["f16", "bf16"]), "--tile", "128x128x64"]
        extra["group"] = rng.choice(["1", "4"])
        extra["causal"] = rng.choice(["true", "false"])
        if rng.random() < 0.9:
            out += ["--shape", f"{128 * rng.randint(1, 16)}x{rng.choice([128, 256])}x{128 * rng.randint(1, 16)}"]
            out += ["--batch", str(rng.choice([1, 8, 32]))]
    narrow = any(t in out for t in ("s8", "s4", "f8e4m3", "mxfp8", "nvfp4")) or (f == "wgmma" and "tf32" in out)
    if "--layout" not in out and (narrow or rng.random() < 0.6):
        out += ["--layout", "nt" if narrow and rng.random() < 0.95 else rng.choice(LAYOUTS)]
    if rng.random() < 0.15 and f not in ("naive", "clblast", "triton"):
        out += ["--split-k", rng.choice(["2", "4"])]
    if rng.random() < 0.07:
        extra[rng.choice(["thread_tile", "warp_tile", "cluster", "stages", "registers", "schedule", "async_copy"])] = \
            rng.choice(["1x1", "0", "17", "64x64", "true", "coop"])
    for key, value in extra.items():
        out += ["--set", f"{key}={value}"]
    return f, out


def commands(binary, count, rng):
    gpus = re.findall(r"(?m)^(\S+)\s+sm_", words(binary, "arch", "list"))
    hopper = [g for g in gpus if re.match("g?h[0-9]", g)]
    blackwell = [g for g in gpus if re.match("(b|gb)[23]00", g)]
    fitting = {"wgmma": hopper, "tcgen05": blackwell}
    with open("tests/data/kernel_names.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [row["name"] for i, row in enumerate(rows) if not row["refused"] or i % 8 == 0]
    shipped = ["sgemm_128x128x8", "sgemm_128x64x8", "naive_16", "blocked_128x128x8", "hgemm_128x128x32", "xmma_128x128x8",
               "igemm_256x128x64", "wgmma_128x128x64_pingpong", "cublas_32x32_sliced", "sgemm_64x64x8"]
    for i in range(count):
        kind = rng.random()
        gpu = gpus[i % len(gpus)]
        if kind < 0.15:
            kernel = ["--kernel", rng.choice(shipped)]
            if "wgmma" in kernel[1]:
                gpu = rng.choice(hopper)
        elif kind < 0.4:
            kernel = ["--kernel-name", rng.choice(names)]
            if re.search("sm90|nvjet_tst|nvjet_tss|nvjet_hsh|hopper", kernel[1]):
                gpu = rng.choice(hopper)
            elif "sm100" in kernel[1]:
                gpu = rng.choice(blackwell)
        else:
            family, kernel = some_family(rng)
            if family in fitting and rng.random() < 0.85:
                gpu = rng.choice(fitting[family])
        if "--shape" not in kernel:
            kernel += ["--shape", shape(rng)]
        if rng.random() < 0.2 and "--batch" not in kernel:
            kernel += ["--batch", str(rng.choice([2, 8, 16]))]
        if i % 50 == 7:
            yield ["kernel", "show", *kernel]
        elif i % 50 == 23:
            yield ["compare", "--arch", gpu, "--arch", rng.choice(gpus), *kernel]
        elif i % 100 == 41:
            yield ["tune", "--arch", gpu, "--shape", "1024x2048x1024", "--dtype", rng.choice(["f32", "f16"]), "--top", "3"]
        else:
            yield ["simulate", "--arch", gpu, *kernel, "--format", "csv" if i % 10 == 3 else "text" if i % 5 == 1 else "json",
                   "--jobs", "1"]
    for command in ["simulate", "compare", "tune", "generate", "train", "predict", "validate", "calibrate", "arch", "kernel",
                    "workload", "serve", "dataset"]:
        yield [command, "--help"]
    yield ["simulate", "--list-switches"]
    yield ["arch", "list"]
    yield ["arch", "show", "l4"]
    yield ["arch", "show", "h200-sxm-141gb", "--format", "json"]
    yield ["completion", "bash"]


def subset(source, folder, step):
    """Every step-th row of a shipped file."""
    with open(source, newline="") as file:
        rows = list(csv.reader(file))
    path = os.path.join(folder, os.path.basename(source))
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([rows[0], *rows[1::step]])
    return path


SWEEP = """method: random
rows: 40
seed: 5
gpus: [rtx4070, l4, a100-pcie-40gb, h100-sxm5-80gb]
shape:
  m: [256, 512, 1000, 2048]
  n: [256, 1024, 1504]
  k: [128, 512, 2048]
kernels:
  - file: [sgemm_128x128x8, naive_16, hgemm_128x128x32]
    layout: [nn, nt]
"""


def big_runs(binary):
    """validate and generate, with what they write: yields a name and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for source, step in [("tests/data/measured_subset.csv", 16), ("tests/data/library_subset.csv", 12)]:
            data = subset(source, folder, step)
            out = os.path.join(folder, "predictions.csv")
            text = run([binary, "validate", "--data", data, "--format", "json", "--jobs", "1", "--predictions", out])
            predictions = open(out, "rb").read() if os.path.exists(out) else b""
            yield "validate " + os.path.basename(source), text.replace(folder.encode(), b"") + predictions
        sweep = os.path.join(folder, "sweep.yaml")
        with open(sweep, "w") as file:
            file.write(SWEEP)
        out = os.path.join(folder, "rows.csv")
        text = run([binary, "generate", "--sweep", sweep, "--out", out, "--jobs", "1", "--quiet"])
        rows = open(out, "rb").read() if os.path.exists(out) else b""
        yield "generate", text.replace(folder.encode(), b"") + rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("digest")
    parser.add_argument("--count", type=int, default=500, help="seeded commands (default 500)")
    parser.add_argument("--seed", type=int, default=32)
    parser.add_argument("--keep", help="a folder for the outputs themselves")
    given = parser.parse_args()
    binary = os.path.abspath(given.binary)
    digest = os.path.abspath(given.digest)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

    def results():
        for command in commands(binary, given.count, random.Random(given.seed)):
            yield " ".join(command), run([binary, *command])
        yield from big_runs(binary)

    with open(digest, "w") as file:
        for number, (name, text) in enumerate(results()):
            file.write(f"{hashlib.sha256(text).hexdigest()[:16]} {text[:1].decode()} {name}\n")
            if given.keep:
                os.makedirs(given.keep, exist_ok=True)
                with open(os.path.join(given.keep, f"{number:03d}"), "wb") as kept:
                    kept.write(name.encode() + b"\n" + text)


if __name__ == "__main__":
    main()
