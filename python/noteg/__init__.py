"""NoteG from Python: how a tiled GEMM kernel will run on a GPU that you do not have.

Every function takes the options of the command of the same name as keywords: --clock-mode burst becomes clock_mode="burst",
a flag becomes True, a repeatable option a list, a shape (m, n, k) or "MxNxK". `set` takes a dict. Results are what
the command prints with --format json, as dicts and lists; data sets are dicts of NumPy arrays.

A mistake in the input raises InputError (a ValueError) with the text of the command line; a run that fails raises
RunError.
"""

import json
import os
import tempfile

from . import _core
from ._core import InputError, Model, read_table

__version__ = _core.version
__all__ = [
    "InputError", "Model", "RunError", "Service", "compare", "generate", "predict", "read_table", "simulate", "tune",
    "validate", "workload",
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


def _words(options):
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
        elif isinstance(value, list) or (isinstance(value, tuple) and not all(isinstance(_plain(n), int) for n in value)):
            words += [f"{option}={_text(each)}" for each in value]
        else:
            words.append(f"{option}={_text(value)}")
    return words


def _run(command, options):
    return _checked(_core.run(command, _words(options)))


def _checked(ran):
    status, out, err, stopped = ran
    if stopped:
        raise KeyboardInterrupt
    if status == 2:
        raise InputError(err.strip())
    if status != 0:
        raise RunError(err.strip())
    return out


def _json(command, options):
    return json.loads(_run(command, {**options, "format": "json"}))


def simulate(arch, **options):
    """One kernel on one GPU: simulate("l4", kernel_name="ampere_sgemm_128x64_tn", shape=(4096, 4096, 1024))."""
    return _json("simulate", {"arch": arch, **options})


def compare(archs, **options):
    """The same kernel on several GPUs: compare(["l4", "l4:l2.size=24MiB"], family="simt", tile=(128, 128, 8), shape=...)."""
    return _json("compare", {"arch": list(archs), **options})


def workload(archs, file, **options):
    """A model or a list of operations: workload("l4", "llama-3-8b", tokens="1,16"). archs: a GPU, or a list of them."""
    names = [archs] if isinstance(archs, str) else list(archs)
    words = _words({"arch": names, **options, "format": "json", "quiet": True}) + [os.fspath(file)]
    return json.loads(_checked(_core.run("workload", words)))


def tune(arch, **options):
    """Kernel configurations ranked: tune("a100-pcie-40gb", shape=(512, 512, 512), dtype="f16", top=5)."""
    return _json("tune", {"arch": arch, "quiet": True, **options})


def validate(data, **options):
    """The simulator, or model=, against measured rows: a file, or a list of files."""
    files = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    return _json("validate", {"data": files, "quiet": True, **options})


def generate(sweep, out=None, jobs=None):
    """A data set as a dict of NumPy arrays, a row for each run. sweep: a YAML file, or a dict that says the same. out:
    where the data set is kept as SQLite, so that an interrupted call can go on; absent: nowhere."""
    with tempfile.TemporaryDirectory(prefix="noteg-") as folder:
        if isinstance(sweep, dict):
            path = os.path.join(folder, "sweep.yaml")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(sweep, file, default=_plain)
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
        return json.loads(self._service.ask(json.dumps(request, default=_plain)))

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
