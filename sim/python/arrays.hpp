// Data sets as NumPy arrays, and back.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "sim/dataset/table.hpp"

namespace noteg::python {

// Column name to array: numbers as float64 without a copy (absent ones are NaN), texts as an array of str.
[[nodiscard]] pybind11::dict to_arrays(dataset::Table table);

// The other way round; every value an array or sequence of the same length. ValueError where they are not.
[[nodiscard]] dataset::Table from_arrays(const pybind11::dict& columns);

}  // namespace noteg::python
