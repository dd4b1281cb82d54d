"""Ranks variants of a kernel by listing and launch file, none of which is run.

usage: search.py NOTEG ARCH FOLDER [--top N]
FOLDER holds NAME.sass (or .sass.gz) and NAME.yaml for each variant, or one launch.yaml for all.
"""
import argparse
import json
import pathlib
import subprocess
import sys


def time_of(noteg, arch, listing, launch):
    command = [noteg, "simulate", "--arch", arch, "--sass", str(listing), "--launch", str(launch), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return (json.loads(done.stdout), None) if done.returncode == 0 else (None, done.stderr.strip().splitlines()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("noteg")
    parser.add_argument("arch")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--top", type=int, default=50)
    options = parser.parse_args()
    ranked, refused = [], []
    for listing in sorted(options.folder.glob("*.sass*")):
        name = listing.name.split(".sass")[0]
        launch = options.folder / f"{name}.yaml"
        result, error = time_of(options.noteg, options.arch, listing, launch if launch.exists() else options.folder / "launch.yaml")
        if result is None:
            refused.append((name, error))
        else:
            ranked.append((result["time_us"], name, result))
    ranked.sort(key=lambda each: each[:2])
    print(f"{'variant':<28} {'us':>10} {'CTAs/SM':>8} {'registers':>10}  limited by")
    for time_us, name, result in ranked[: options.top]:
        print(f"{name:<28} {time_us:>10.2f} {result['occupancy']['ctas_per_sm']:>8} "
              f"{result['kernel']['registers_per_thread']:>10}  {result['bottleneck']['name']}")
    for name, error in refused:
        print(f"{name:<28} refused: {error}", file=sys.stderr)
    return 0 if ranked else 1


if __name__ == "__main__":
    sys.exit(main())
