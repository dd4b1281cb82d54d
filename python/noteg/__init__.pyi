import os
from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import InputError as InputError
from ._core import Model as Model

__version__: str
__all__: list[str]

_Path = str | os.PathLike[str]
_Shape = str | tuple[int, int, int] | list[int]
_Columns = dict[str, NDArray[Any]]

class RunError(RuntimeError): ...

class Run(dict[str, Any]):
    def _repr_html_(self) -> str: ...

@overload
def simulate(
    arch: _Path,
    kernel: _Path | None = ...,
    shape: _Shape | None = ...,
    *,
    kernel_name: str | None = ...,
    family: str | None = ...,
    tile: _Shape | None = ...,
    dtype: str | None = ...,
    layout: str | None = ...,
    batch: int | None = ...,
    split_k: int | None = ...,
    set: Mapping[str, object] | None = ...,
    clock: str | None = ...,
    clock_mode: str | None = ...,
    l2: str | None = ...,
    exact: bool = ...,
    explain: bool = ...,
    **options: object,
) -> Run: ...
@overload
def simulate(
    arch: _Path, kernel: _Path | None = ..., shape: list[_Shape] | NDArray[Any] = ..., **options: Any
) -> list[Run]: ...
def compare(
    archs: _Path | Sequence[str],
    kernel: _Path | None = ...,
    shape: _Shape | None = ...,
    *,
    kernel_name: str | None = ...,
    family: str | None = ...,
    tile: _Shape | None = ...,
    dtype: str | None = ...,
    layout: str | None = ...,
    batch: int | None = ...,
    set: Mapping[str, object] | None = ...,
    clock_mode: str | None = ...,
    jobs: int | None = ...,
    **options: object,
) -> dict[str, Any]: ...
def gpus() -> list[str]: ...
def kernels() -> list[str]: ...
def plot_roofline(runs: Run | Sequence[Run], axes: Any = ...) -> Any: ...
def plot_sweep(
    archs: _Path | Sequence[str],
    axis: str,
    values: ArrayLike,
    shape: _Shape,
    axes: Any = ...,
    figure: str = ...,
    **options: Any,
) -> Any: ...
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
def workload(archs: _Path | Sequence[str], file: _Path, **options: object) -> dict[str, Any]: ...

class Service:
    def __init__(self) -> None: ...
    def ask(self, request: str | Mapping[str, Any]) -> Any: ...
    def simulate(self, **options: object) -> Any: ...
    def compare(self, **options: object) -> Any: ...
    def tune(self, **options: object) -> Any: ...
    def predict(self, **options: object) -> Any: ...
    def workload(self, file: _Path, **options: object) -> Any: ...
