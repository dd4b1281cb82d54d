#!/usr/bin/python3
"""The forest beside scikit-learn's and XGBoost's on one table and machine: time to fit, time to predict 10^6 rows, R2.

usage: forest_bench.py PROGRAM [THREADS]    PROGRAM: build/release/bin/forest_bench
Needs Debian's python3-sklearn and takes its python3-xgboost where it is there, so Debian's python3 and not another one
on the path. The table imitates runs of GEMM kernels: 24 features, 4 targets (logarithms of time, power, energy and
rate), 16,128 rows to train and a quarter as many held out.
"""
import json
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score

ROWS, HELD_OUT, FEATURES, TARGETS, TREES = 16128, 4032, 24, 4, 100


def table(rows, random):
    size = 2 ** random.uniform(7, 13, (rows, 3))
    size = np.round(size / 32) * 32
    tile = 2.0 ** random.integers(4, 9, (rows, 2))
    stages = random.integers(1, 6, rows)
    sms = random.choice([46, 58, 82, 84, 108, 132, 142], rows)
    bandwidth = sms * random.choice([4.5, 7, 14, 18], rows)
    clock = random.uniform(1.0, 2.6, rows)
    rest = random.normal(size=(rows, FEATURES - 14))
    ctas = np.ceil(size[:, 0] / tile[:, 0]) * np.ceil(size[:, 1] / tile[:, 1])
    waves = ctas / sms
    work = 2 * tile.prod(axis=1) * size[:, 2] * np.ceil(waves)
    compute = work / (256 * clock * (0.5 + 0.08 * stages) * np.sqrt(tile.min(axis=1) / 256)) * 1e-3
    traffic = 4 * (size[:, 0] + size[:, 1]) * size[:, 2] + 4 * size[:, 0] * size[:, 1]
    memory = traffic / bandwidth * 1e-3
    run = 3 + np.maximum(compute, memory) + 0.2 * np.minimum(compute, memory)
    power = 40 + 1.2 * sms * clock ** 2 * (compute / run) + 0.1 * bandwidth * memory / run
    x = np.column_stack([size, tile, stages, sms, bandwidth, clock, ctas, waves, tile.prod(axis=1),
                         size.prod(axis=1), traffic, rest])
    flops = 2 * size.prod(axis=1)
    y = np.log(np.column_stack([run, power, run * power, flops / run]))
    return x, y + random.normal(0, 0.01, y.shape)


def timed(work):
    """Wall time and processor time of all threads: the latter also counts on a machine that is busy with other work."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return round(time.perf_counter() - start, 3), round(time.process_time() - cpu, 3)


def measured(name, fit, predict, x, y):
    """fit() returns a model; predict(model, rows) says what it tells of them."""
    model = []
    fit_s, fit_cpu = timed(lambda: model.append(fit(x[:ROWS], y[:ROWS])))
    r2 = r2_score(y[ROWS:], predict(model[0], x[ROWS:]))
    many = np.resize(x, (10**6, FEATURES))
    predict_s, predict_cpu = timed(lambda: predict(model[0], many))
    return {"name": name, "fit_s": fit_s, "fit_cpu_s": fit_cpu, "predict_s": predict_s, "predict_cpu_s": predict_cpu,
            "r2": r2}


def scikit(x, y, threads):
    forest = RandomForestRegressor(TREES, max_features=FEATURES // 3, min_samples_split=6, n_jobs=threads, random_state=1)
    return measured("scikit-learn random forest, 100", forest.fit, lambda model, rows: model.predict(rows), x, y)


def xgboost(x, y, threads):
    """Histograms, 100 rounds: its usual way. A booster for each target."""
    try:
        import xgboost as xgb
    except ImportError:
        return None
    wanted = {"tree_method": "hist", "nthread": threads, "seed": 1}

    def fit(rows, values):
        matrices = [xgb.DMatrix(rows, values[:, t], nthread=threads) for t in range(TARGETS)]
        return [xgb.train(wanted, matrix, TREES) for matrix in matrices]

    def predict(boosters, rows):
        matrix = xgb.DMatrix(rows, nthread=threads)
        return np.column_stack([booster.predict(matrix) for booster in boosters])

    return measured("XGBoost, 100 rounds a target", fit, predict, x, y)


def ours(program, x, y, threads, recipe):
    with tempfile.NamedTemporaryFile() as file:
        np.column_stack([x, y]).astype(np.float64).tofile(file)
        file.flush()
        words = [program, file.name, str(FEATURES), str(TARGETS), str(ROWS), str(threads), recipe]
        out = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return {"name": "noteg " + recipe.replace(":", ", "), **out}


def as_good_as(other, program, x, y, threads):
    """The smallest random forest here whose R2 is not below another's: each needs its own number of trees."""
    for trees in (5, 10, 15, 20, 30, 50, 100):
        row = ours(program, x, y, threads, f"random-forest:{trees}")
        if row["r2"] >= other["r2"]:
            return {**row, "name": row["name"] + ", equal R2"}
    return None


def main():
    program, threads = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2
    x, y = table(ROWS + HELD_OUT, np.random.default_rng(7))
    rows = [ours(program, x, y, threads, recipe) for recipe in
            ("random-forest:100", "random-forest:25", "extra-trees:100", "extra-trees:25")]
    others = [row for row in (scikit(x, y, threads), xgboost(x, y, threads)) if row]
    equal = as_good_as(others[0], program, x, y, threads)
    rows += others + ([equal] if equal else [])
    print(f"{'':34}{'fit s':>8}{'CPU s':>8}{'10^6 s':>8}{'CPU s':>8}{'R2':>8}")
    for row in rows:
        print(f"{row['name']:34}{row['fit_s']:8.2f}{row['fit_cpu_s']:8.2f}{row['predict_s']:8.2f}"
              f"{row['predict_cpu_s']:8.2f}{row['r2']:8.4f}")
    if equal:
        print("at equal R2, processor time of scikit-learn over that of noteg: fit "
              f"{others[0]['fit_cpu_s'] / equal['fit_cpu_s']:.1f}, predict "
              f"{others[0]['predict_cpu_s'] / equal['predict_cpu_s']:.1f}")


if __name__ == "__main__":
    main()
