#include "sim/python/arrays.hpp"

#include <map>
#include <memory>

namespace noteg::python {
namespace py = pybind11;

namespace {

// The array takes the numbers over and frees them with itself.
py::array_t<double> owned(std::vector<double> numbers) {
  auto kept = std::make_unique<std::vector<double>>(std::move(numbers));
  std::vector<double>* data = kept.get();
  const py::capsule owner(kept.release(), [](void* memory) { delete static_cast<std::vector<double>*>(memory); });
  return py::array_t<double>({static_cast<py::ssize_t>(data->size())}, {sizeof(double)}, data->data(), owner);
}

py::object texts(const dataset::Values& values, std::size_t rows) {
  py::list list;
  for (std::size_t row = 0; row < rows; ++row) list.append(py::str(values.text(row)));
  return py::module_::import("numpy").attr("array")(list, py::arg("dtype") = "str");
}

bool holds_texts(const py::array& array) { return array.dtype().kind() == 'U' || array.dtype().kind() == 'O'; }

dataset::Values column_of(const std::string& name, const py::array& array) {
  dataset::Values values;
  values.column.name = name;  // models ask by name alone
  values.is_text = holds_texts(array);
  if (!values.is_text) {
    const auto numbers = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
    if (!numbers) throw py::value_error(name + ": expected numbers or texts");
    values.numbers.assign(numbers.data(), numbers.data() + numbers.size());
    return values;
  }
  std::map<std::string, std::int32_t> known;
  for (const py::handle& each : array) {
    const std::string text = py::str(each);
    const auto [place, is_new] = known.emplace(text, static_cast<std::int32_t>(values.words.size()));
    if (is_new) values.words.push_back(text);
    values.codes.push_back(text.empty() ? -1 : place->second);
  }
  return values;
}

}  // namespace

py::dict to_arrays(dataset::Table table) {
  py::dict out;
  for (dataset::Values& values : table.columns)
    out[py::str(values.column.name)] =
        values.is_text ? texts(values, table.rows) : py::object(owned(std::move(values.numbers)));
  return out;
}

dataset::Table from_arrays(const py::dict& columns) {
  dataset::Table table;
  table.file = "columns";
  const py::object as_array = py::module_::import("numpy").attr("asarray");
  for (const auto& [key, value] : columns) {
    const auto array =
        py::isinstance<py::array>(value) ? py::reinterpret_borrow<py::array>(value) : py::array(as_array(value));
    const std::string name = py::str(key);
    if (array.ndim() != 1) throw py::value_error(name + ": expected one dimension");
    if (table.columns.empty()) table.rows = static_cast<std::size_t>(array.size());
    if (static_cast<std::size_t>(array.size()) != table.rows)
      throw py::value_error(name + ": expected as many values as the first column has");
    table.columns.push_back(column_of(name, array));
  }
  return table;
}

}  // namespace noteg::python
