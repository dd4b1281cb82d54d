"""NoteG from Python: how a kernel will run on a GPU that you do not have.

Every function takes the options of the command of the same name as keywords: --clock-mode burst becomes clock_mode="burst",
a flag becomes True, a repeatable option a list, a shape (m, n, k) or "MxNxK". `set` takes a dict. Results are what
the command prints with --format json, as dicts and lists; data sets are dicts of NumPy arrays.

Results show themselves in a notebook; the whole is in them as in any dict. A list of shapes gives a list of results.
plot_roofline and plot_sweep draw with matplotlib where it is installed. gpus() and kernels() say what there is.

A mistake in the input raises InputError (a ValueError) with the text of the command line; a run that fails raises
RunError.
"""

import functools
import html
import json
import os
import tempfile

from . import _core
from ._core import InputError, Model, read_table

__version__ = _core.version
__all__ = [
    "InputError", "Model", "Run", "RunError", "Service", "compare", "generate", "gpus", "kernels", "plot_roofline",
    "plot_sweep", "predict", "read_table", "simulate", "tune", "validate", "workload",
]


class RunError(RuntimeError):
    """The input was right, the run failed: a full disk, a run that was stopped."""


def _plain(value):
    """Numbers and arrays of NumPy as those of Python; anything else as it is."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        return value.item()
    return tuple(value.tolist()) if hasattr(value, "tolist") and hasattr(value, "ndim") else value


def _text(value):
    value = _plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "x".join(str(part) for part in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _are_numbers(values):
    return len(values) > 0 and all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in map(_plain, values))


def _words(options):
    """The words of a command line: numbers side by side are one value, an extent or a list with commas."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        value = _plain(value)
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, dict):
            words += [f"{option}={key}={_text(each)}" for key, each in value.items()]
        elif isinstance(value, (list, tuple)) and _are_numbers(value):
            words.append(f"{option}=" + ("x" if name in ("shape", "tile") else ",").join(_text(each) for each in value))
        elif isinstance(value, (list, tuple)):
            words += [f"{option}={_text(each)}" for each in value]
        else:
            words.append(f"{option}={_text(value)}")
    return words


def _names(one_or_more):
    return [one_or_more] if isinstance(one_or_more, (str, os.PathLike)) else list(one_or_more)


def _for_json(value):
    """What JSON has no form for: numbers and arrays of NumPy, paths."""
    plain = os.fspath(value) if isinstance(value, os.PathLike) else _plain(value)
    if plain is value:
        raise TypeError(f"expected texts, numbers, lists and dicts, found a {type(value).__name__}: {value!r:.80}")
    return plain


def _run(command, options, *before):
    return _told(*_core.run(command, [*before, *_words(options)]))


def _told(status, out, err, stopped):
    if stopped:
        raise KeyboardInterrupt
    if status == 2:
        raise InputError(err.strip())
    if status != 0:
        raise RunError(err.strip())
    return out


def _json(command, options):
    return json.loads(_run(command, {**options, "format": "json"}))


class Run(dict):
    """What one simulation found: the dict of the JSON, with a short form for notebooks."""

    def _lines(self):
        if "bottleneck" not in self:  # of assembly, a memory kernel or a layer of experts: its own figures
            return [(name.replace("_", " "), str(value)) for name, value in self.items()
                    if name != "arch" and not isinstance(value, (dict, list))]
        kernel, limit, trust = self["kernel"], self["bottleneck"], self["confidence"]
        low, high = trust.get("time_low_us"), trust.get("time_high_us")
        if "grid" in kernel:  # compiled code
            size = " x ".join(map(str, kernel["grid"])) + " CTAs of " + " x ".join(map(str, kernel["block"])) + " threads"
        else:
            size = " x ".join(str(kernel[axis]) for axis in ("m", "n", "k")) + f", batch {kernel['batch']}"
        return [
            ("kernel", f"{kernel['name'] or kernel['family']}, {size}"),
            ("time", f"{self['time_us']:.4g} us" + (f", 90 %: {low:.3g} to {high:.3g} us" if low is not None else "")),
            ("throughput", f"{self['tflops']:.4g} TFLOP/s, {self['pct_of_peak']:.3g} % of peak"),
            ("power", f"{self['power_w']:.4g} W at {self['sm_clock_mhz']:.4g} MHz, {self['energy_mj']:.4g} mJ"),
            ("limited by", f"{limit['name'].replace('_', ' ')}: {limit['because']}"),
        ]

    def __repr__(self):
        return "\n".join([str(self["arch"])] + [f"  {name:<11} {text}" for name, text in self._lines()])

    def _repr_html_(self):
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
                       f"<td style='text-align:left'>{html.escape(text)}</td></tr>" for name, text in self._lines())
        return f"<table><caption>{html.escape(str(self['arch']))}</caption>{rows}</table>"


def _shapes(shape):
    """Where shape is a list (or an array of rows) of shapes: these; else None."""
    shape = _plain(shape)
    many = isinstance(shape, (list, tuple)) and all(isinstance(each, (list, tuple, str)) for each in shape)
    return [tuple(_plain(extent) for extent in each) if not isinstance(each, str) else each for each in shape] if many else None


@functools.lru_cache(maxsize=4096)
def _simulated(words):
    """The same words give the same bytes, so that a repeated call costs nothing but reading them."""
    status, out, err, stopped = _core.run("simulate", list(words))
    return _told(status, out, err, stopped)


def _has_files(options):
    """Whether a call reads a file by its path, which may change, or writes one."""
    if any(options.get(name) for name in ("report", "trace", "power_trace", "stalls", "accelsim_trace")):
        return True
    texts = [_text(each) for each in options.values() if each is not None and not isinstance(each, dict)]
    return any("/" in text or os.path.exists(text) for text in texts)


def simulate(arch, kernel=None, shape=None, *, kernel_name=None, family=None, tile=None, dtype=None, layout=None,
             batch=None, split_k=None, set=None, clock=None, clock_mode=None, l2=None, exact=False, explain=False,
             **options):
    """One kernel on one GPU: simulate("l4", kernel_name="ampere_sgemm_128x64_tn", shape=(4096, 4096, 1024)).

    shape: (m, n, k), "MxNxK", or a list of such (then the result is a list). Files that are named by path are read
    anew each time; a kernel or GPU by name is remembered."""
    options.update(kernel=kernel, kernel_name=kernel_name, family=family, tile=tile, dtype=dtype, layout=layout,
                   batch=batch, split_k=split_k, set=set, clock=clock, clock_mode=clock_mode, l2=l2, exact=exact,
                   explain=explain)
    many = _shapes(shape)
    if many is not None:
        return [simulate(arch, shape=each, **options) for each in many]
    words = _words({"arch": arch, "shape": shape, **options, "format": "json"})
    is_read_anew = _has_files({"arch": arch, **options})
    found = json.loads(_told(*_core.run("simulate", words)) if is_read_anew else _simulated(tuple(words)))
    return Run(found) if isinstance(found, dict) else found


def compare(archs, kernel=None, shape=None, *, kernel_name=None, family=None, tile=None, dtype=None, layout=None,
            batch=None, set=None, clock_mode=None, jobs=None, **options):
    """The same kernel on several GPUs: compare(["l4", "l4:l2.size=24MiB"], family="simt", tile=(128, 128, 8), shape=...),
    or on one under several power limits: compare("l4", ..., power_limits=["40W", "72W"])."""
    options.update(kernel=kernel, shape=shape, kernel_name=kernel_name, family=family, tile=tile, dtype=dtype,
                   layout=layout, batch=batch, set=set, clock_mode=clock_mode, jobs=jobs)
    return _json("compare", {"arch": _names(archs), **options})


def workload(archs, file, **options):
    """A model or a list of operations: workload("l4", "llama-3-8b", tokens=[1, 16]). archs: a GPU, or a list of them."""
    options = {"arch": _names(archs), **options, "format": "json", "quiet": True}
    return json.loads(_run("workload", options, os.fspath(file)))


def gpus():
    """The names of the GPUs that are known, as `noteg arch list` shows them."""
    return [each["id"] for each in json.loads(_run("arch", {"format": "json"}, "list"))["gpus"]]


def kernels():
    """The names of the kernels that NoteG ships, for kernel=."""
    return _core.shipped_kernels()


def _axes(axes):
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise RunError("plots need matplotlib, which is not installed") from None
    return pyplot.subplots()[1]


def plot_roofline(runs, axes=None):
    """Runs of simulate() under the roofs of their pipes and of DRAM, at the clock of each run; returns the axes."""
    axes = _axes(axes)
    runs = [runs] if isinstance(runs, dict) else list(runs)
    at = [run["roofline"]["arithmetic_intensity"] for run in runs]
    for run, intensity in zip(runs, at):
        peak = 100 * run["tflops"] / run["pct_of_peak"]
        bandwidth = run["memory"]["dram_peak_gb_per_s"] * 1e-3
        ends = sorted({min(at) / 8, peak / bandwidth, max(at) * 8})
        roof, = axes.plot(ends, [min(peak, bandwidth * each) for each in ends], label=str(run["arch"]))
        axes.plot([intensity], [run["tflops"]], "o", color=roof.get_color())
    axes.set(xscale="log", yscale="log", xlabel="FLOP per byte of DRAM", ylabel="TFLOP/s")
    axes.legend()
    return axes


def plot_sweep(archs, axis, values, shape, axes=None, figure="tflops", **options):
    """A figure of simulate() over M, N or K (axis) at the values given, a line a GPU; returns the axes."""
    axes = _axes(axes)
    place = "mnk".index(axis.lower())
    values = [int(_plain(each)) for each in values]
    base = list(_plain(shape)) if not isinstance(shape, str) else [int(each) for each in shape.split("x")]
    shapes = [tuple(base[:place] + [value] + base[place + 1:]) for value in values]
    for arch in _names(archs):
        axes.plot(values, [run[figure] for run in simulate(arch, shape=shapes, **options)], label=str(arch))
    axes.set(xlabel=axis.upper(), ylabel=figure)
    axes.legend()
    return axes


def tune(arch, **options):
    """Kernel configurations ranked: tune("a100-pcie-40gb", shape=(512, 512, 512), dtype="f16", top=5)."""
    return _json("tune", {"arch": arch, "quiet": True, **options})


def validate(data, **options):
    """The simulator, or model=, against measured rows: a file, or a list of files."""
    return _json("validate", {"data": _names(data), "quiet": True, **options})


def generate(sweep, out=None, jobs=None):
    """A data set as a dict of NumPy arrays, a row for each run. sweep: a YAML file, or a dict that says the same. out:
    where the data set is kept as SQLite, so that an interrupted call can go on; absent: nowhere."""
    with tempfile.TemporaryDirectory(prefix="noteg-") as folder:
        if isinstance(sweep, dict):
            path = os.path.join(folder, "sweep.yaml")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(sweep, file, default=_for_json)
        else:
            path = os.fspath(sweep)
        data = os.fspath(out) if out is not None else os.path.join(folder, "data.db")
        _run("generate", {"sweep": path, "out": data, "jobs": jobs, "quiet": True})
        return read_table(data)


def predict(model, columns=None, **options):
    """What a trained model says: of columns (a dict of arrays, as generate gives it), or of one run named as for
    simulate(). model: a Model, or the file of one."""
    if columns is not None:
        return (model if isinstance(model, Model) else Model(os.fspath(model))).predict(columns, **options)
    return _json("predict", {"model": model, **options})


class Service:
    """Many requests with caches that are kept (`noteg serve` in this process): an oracle for a search.

    simulate, tune, predict, compare and workload take the options of the command as keywords and give its JSON result;
    ask() takes and gives the requests of docs/serve.md. May be asked from several threads.
    """

    def __init__(self):
        self._service = _core.Service()

    def ask(self, request):
        """The answer to a request: a dict for a dict, a text for a text."""
        if isinstance(request, str):
            return self._service.ask(request)
        return json.loads(self._service.ask(json.dumps(request, default=_for_json)))

    def _result(self, command, options):
        answer = self.ask({"command": command, **options})
        if answer["status"] == 2:
            raise InputError(answer["error"].strip())
        if answer["status"] != 0:
            raise RunError(answer["error"].strip())
        return answer["result"] if "result" in answer else answer["text"]

    def simulate(self, **options):
        return self._result("simulate", options)

    def compare(self, **options):
        return self._result("compare", options)

    def tune(self, **options):
        return self._result("tune", options)

    def predict(self, **options):
        return self._result("predict", options)

    def workload(self, file, **options):
        return self._result("workload", {"arguments": [os.fspath(file)], **options})
