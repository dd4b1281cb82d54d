"""A look around with the Python module: cells as notebooks and editors know them (# %%), or run it as it is.

    ./dev python                      # builds, tests and installs the module for this user
    python3 examples/python/explore.py

Debian's python3, whose NumPy is used; without installing: PYTHONPATH=build/python/python python3 examples/python/explore.py
"""

# %% One kernel on one GPU
import numpy as np

import noteg

shape = (1024, 1024, 512)
run = noteg.simulate("l4", kernel_name="ampere_sgemm_128x64_tn", shape=shape)
print(f"L4: {run['time_us']:.0f} us, {run['tflops']:.1f} TFLOP/s, limited by {run['bottleneck']['name']}")

# %% What would change with another L2?
sides = noteg.compare(["l4", "l4:l2.size=24MiB"], kernel_name="ampere_sgemm_128x64_tn", shape=shape)
for gpu in sides["gpus"]:
    print(f"{gpu['label']:<24} {gpu['time_us']:8.0f} us  {100 * gpu['memory']['l2_hit_rate']:5.1f} % L2 hits")

# %% Time against tile size, as arrays
tiles = [(64, 64, 8), (128, 64, 8), (128, 128, 8)]
times = np.array([noteg.simulate("l4", family="simt", tile=tile, shape=shape)["time_us"] for tile in tiles])
for tile, time in zip(tiles, times):
    print(f"{tile}: {time / times.min():.2f} times the best")

# %% The best kernel for a problem
best = noteg.tune("a100-pcie-40gb", shape=(512, 512, 512), dtype="f16", max_configs=12, top=3)
for kernel in best["problems"][0]["top"]:
    print(f"{kernel['configuration']:<44} {kernel['time_us']:6.1f} us")

# %% A data set as NumPy arrays
data = noteg.generate(
    {
        "method": "random",
        "rows": 30,
        "seed": 1,
        "gpus": ["l4"],
        "shape": {axis: {"from": 128, "to": 1024, "multiple_of": 64} for axis in ("m", "n", "k")},
        "kernels": [{"family": "simt", "tile": ["128x128x8", "64x64x8"]}],
    }
)
print(f"{len(data['time_us'])} rows of {len(data)} columns; median {np.median(data['tflops']):.1f} TFLOP/s")

# %% Mistakes are exceptions with the text of the command line
try:
    noteg.simulate("l5", family="simt", tile="128x128x8", shape=shape)
except noteg.InputError as error:
    print(str(error).splitlines()[0])
