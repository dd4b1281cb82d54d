import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import InputError as InputError
from ._core import Model as Model

__version__: str
__all__: list[str]

_Path = str | os.PathLike[str]
_Shape = str | tuple[int, int, int]
_Columns = dict[str, NDArray[Any]]

class RunError(RuntimeError): ...

def simulate(
    arch: _Path,
    *,
    shape: _Shape,
    kernel: _Path | None = ...,
    kernel_name: str | None = ...,
    family: str | None = ...,
    tile: _Shape | None = ...,
    dtype: str | None = ...,
    layout: str | None = ...,
    batch: int | None = ...,
    split_k: int | None = ...,
    set: Mapping[str, object] | None = ...,
    exact: bool = ...,
    explain: bool = ...,
    report: _Path | None = ...,
    trace: _Path | None = ...,
    **options: object,
) -> dict[str, Any]: ...
def compare(
    archs: Sequence[str],
    *,
    shape: _Shape,
    kernel: _Path | None = ...,
    kernel_name: str | None = ...,
    family: str | None = ...,
    tile: _Shape | None = ...,
    dtype: str | None = ...,
    set: Mapping[str, object] | None = ...,
    jobs: int | None = ...,
    **options: object,
) -> dict[str, Any]: ...
def tune(
    arch: _Path,
    *,
    shape: _Shape | None = ...,
    shapes: _Path | None = ...,
    dtype: str | None = ...,
    top: int | None = ...,
    objective: str | None = ...,
    max_configs: int | None = ...,
    jobs: int | None = ...,
    **options: object,
) -> dict[str, Any]: ...
def validate(
    data: _Path | Sequence[_Path],
    *,
    by: str | None = ...,
    gpu: Sequence[str] | str | None = ...,
    model: _Path | None = ...,
    jobs: int | None = ...,
    **options: object,
) -> dict[str, Any]: ...
def generate(sweep: _Path | Mapping[str, Any], out: _Path | None = ..., jobs: int | None = ...) -> _Columns: ...
def predict(
    model: Model | _Path,
    columns: Mapping[str, ArrayLike] | None = ...,
    **options: Any,
) -> dict[str, NDArray[np.float64]] | dict[str, Any]: ...
def read_table(path: str) -> _Columns: ...
def workload(archs: str | Sequence[str], file: _Path, **options: object) -> dict[str, Any]: ...

class Service:
    def __init__(self) -> None: ...
    def ask(self, request: str | Mapping[str, Any]) -> Any: ...
    def simulate(self, **options: object) -> Any: ...
    def compare(self, **options: object) -> Any: ...
    def tune(self, **options: object) -> Any: ...
    def predict(self, **options: object) -> Any: ...
    def workload(self, file: _Path, **options: object) -> Any: ...
