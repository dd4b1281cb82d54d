#!/usr/bin/env python3
"""A search for a kernel that asks NoteG instead of a GPU: proposals, answers of `noteg serve`, better proposals.

usage: search.py [--noteg PATH] [--arch A] [--shape MxNxK] [--proposals N] [--seed S]

It stands for the loop of a search that lets a model write kernels (CUDA-L1, CudaForge): a generation of proposals is
judged at once, the best are kept, their neighbours are proposed next. Only Python's own library is needed.
"""
import argparse
import json
import random
import subprocess
import sys
import time

# What a proposal may be: CUTLASS's mma.sync kernels, whose measured times are in the README.
CHOICES = {
    "tile_m": [32, 64, 128, 256],
    "tile_n": [32, 64, 128, 256],
    "tile_k": [32, 64],
    "warps_m": [1, 2, 4],
    "warps_n": [1, 2, 4],
    "stages": [2, 3, 4, 5, 6],
    "split_k": [1, 1, 1, 2, 4],
    "swizzle_log2": [0, 1, 2, 3],
}


def draw(rng):
    return {key: rng.choice(values) for key, values in CHOICES.items()}


def neighbour(rng, parent):
    child = dict(parent)
    for key in rng.sample(list(CHOICES), rng.choice([1, 1, 2])):
        child[key] = rng.choice(CHOICES[key])
    return child


def request(number, proposal, arch, shape):
    p = proposal
    return {
        "id": number, "command": "simulate", "estimate": True, "clock_mode": "burst", "arch": arch, "family": "mma", "dtype": "f16",
        "layout": "nt", "shape": shape, "tile": [p["tile_m"], p["tile_n"], p["tile_k"]], "split_k": p["split_k"],
        "set": {"warp_tile": f"{p['tile_m'] // p['warps_m']}x{p['tile_n'] // p['warps_n']}", "stages": p["stages"],
                "swizzle_log2": p["swizzle_log2"]},
    }


class Oracle:
    """The process, asked a generation at a time."""

    def __init__(self, noteg, arch, shape):
        self.arch, self.shape = arch, shape
        self.process = subprocess.Popen([noteg, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def judge(self, proposals):
        for number, proposal in enumerate(proposals):
            self.process.stdin.write(json.dumps(request(number, proposal, self.arch, self.shape)) + "\n")
        self.process.stdin.flush()
        answers = [json.loads(self.process.stdout.readline()) for _ in proposals]
        return [a["result"]["time_us"] if a["status"] == 0 else None for a in answers]

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def the_best_of_each_tile(judged):
    """Fastest first; survivors that differ in their tiles keep the search from standing still."""
    tiles = {}
    for us, one in sorted(judged, key=lambda pair: pair[0]):
        tiles.setdefault((one["tile_m"], one["tile_n"], one["tile_k"]), (us, one))
    return list(tiles.values())


def search(oracle, proposals, rng, generation=50, survivors=8):
    known = {}
    best = []
    while len(known) < proposals:
        fresh = []
        while len(fresh) < min(generation, proposals - len(known)):
            one = neighbour(rng, rng.choice(best)[1]) if best and rng.random() < 0.8 else draw(rng)
            key = tuple(one.values())
            if key not in known:
                known[key] = None
                fresh.append(one)
        for one, us in zip(fresh, oracle.judge(fresh)):
            known[tuple(one.values())] = us
            if us is not None:
                best.append((us, one))
        best = the_best_of_each_tile(best)[:survivors]
    return best, sum(us is not None for us in known.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--noteg", default="noteg")
    parser.add_argument("--arch", default="h200-sxm-141gb")
    parser.add_argument("--shape", default="2048x4096x14336")
    parser.add_argument("--proposals", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    oracle = Oracle(arguments.noteg, arguments.arch, arguments.shape)
    begun = time.monotonic()
    best, valid = search(oracle, arguments.proposals, random.Random(arguments.seed))
    took = time.monotonic() - begun
    oracle.close()
    print(f"{arguments.proposals} proposals for {arguments.shape} on {arguments.arch}, {valid} of them kernels")
    for us, p in best:
        print(f"  {us:8.1f} us  {p['tile_m']}x{p['tile_n']}x{p['tile_k']}, {p['warps_m']}x{p['warps_n']} warps, "
              f"{p['stages']} stages, K/{p['split_k']}, swizzle {p['swizzle_log2']}")
    print(f"{took:.1f} s, {arguments.proposals / took:.0f} proposals a second", file=sys.stderr)


if __name__ == "__main__":
    main()
