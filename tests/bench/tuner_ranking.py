#!/usr/bin/env python3
"""How well predictions rank a tuner's configurations.

usage: noteg validate --data rows.csv --predictions predicted.csv; tuner_ranking.py predicted.csv

Rows with a prediction, by GPU and shape: rank correlation (Spearman) of predicted and measured times, and the measured time of
the configuration with the shortest prediction over the shortest measured one.
"""
import collections
import csv
import sys


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    out = [0.0] * len(values)
    first = 0
    while first < len(order):  # equal values share their mean rank
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in range(first, last + 1):
            out[order[place]] = (first + last) / 2
        first = last + 1
    return out


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    cov = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    var = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    return cov / var**0.5 if var > 0 else float("nan")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    groups = collections.defaultdict(list)
    skipped = 0
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["predicted_time_ms"]:
                skipped += 1
                continue
            key = (row["gpu"], row["M"], row["N"], row["K"])
            groups[key].append((float(row["predicted_time_ms"]), float(row["time_ms"])))
    for key, pairs in sorted(groups.items()):
        predicted, measured = zip(*pairs)
        pick = min(pairs)[1]
        rank = correlation(ranks(predicted), ranks(measured))
        print(
            f"{' '.join(key)}: {len(pairs)} configurations, rank correlation {rank:.3f}, best measured "
            f"{min(measured):.4g} ms, ours {pick:.4g} ms ({100 * (pick / min(measured) - 1):.1f} % more)"
        )
    print(f"{skipped} rows skipped")


if __name__ == "__main__":
    main()
