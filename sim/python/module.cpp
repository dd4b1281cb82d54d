#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <memory>

#include "kernels/config/config_file.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/dataset/columns.hpp"
#include "sim/dataset/table.hpp"
#include "sim/learn/estimate.hpp"
#include "sim/learn/model_file.hpp"

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

// Column name to array: numbers as float64 without a copy (absent ones are NaN), texts as an array of str.
py::dict to_arrays(dataset::Table table) {
  py::dict out;
  for (dataset::Values& values : table.columns)
    out[py::str(values.column.name)] =
        values.is_text ? texts(values, table.rows) : py::object(owned(std::move(values.numbers)));
  return out;
}

// The other way round, of the columns that somebody wants; every value an array or sequence of the same length.
// ValueError where they are not.
template <class Wanted>
dataset::Table from_arrays(const py::dict& columns, const Wanted& wanted) {
  dataset::Table table;
  table.file = "columns";
  const py::object as_array = py::module_::import("numpy").attr("asarray");
  for (const auto& [key, value] : columns) {
    const std::string name = py::str(key);
    if (!wanted(name)) continue;
    const auto array =
        py::isinstance<py::array>(value) ? py::reinterpret_borrow<py::array>(value) : py::array(as_array(value));
    if (array.ndim() != 1) throw py::value_error(name + ": expected one dimension");
    if (table.columns.empty()) table.rows = static_cast<std::size_t>(array.size());
    if (static_cast<std::size_t>(array.size()) != table.rows)
      throw py::value_error(name + ": expected as many values as the first column has");
    table.columns.push_back(column_of(name, array));
  }
  return table;
}

// noteg._core: commands run inside the process, data sets and models as NumPy arrays. What a user of Python sees is
// made of it in python/noteg/__init__.py. The GIL is released while anything is simulated, trained or read.

namespace py = pybind11;

namespace {

// What the user's words or files got wrong, in the words of the command line.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Value>
Value value_or_throw(Result<Value> result) {
  if (!result) throw InputError(to_string(result.errors()));
  return std::move(*result);
}

// Exit status, standard output, standard error, and whether a signal ended it early.
std::tuple<int, std::string, std::string, bool> run(const std::string& name, const std::vector<std::string>& words) {
  const auto command = std::ranges::find(cli::commands(), name, &cli::Command::name);
  if (command == cli::commands().end()) throw InputError("command: expected a known one, found \"" + name + "\"");
  const py::gil_scoped_release released;
  const cli::StopScope signals;
  cli::Capture capture;
  const int status = command->run(words);
  return {status, std::move(capture.out), std::move(capture.err), signals.stopped_by_signal()};
}

py::dict read_table(const std::string& path) {
  dataset::Table table = [&] {
    const py::gil_scoped_release released;
    return value_or_throw(dataset::read_table(path, dataset::known_column));
  }();
  return to_arrays(std::move(table));
}

// Requests and answers as lines of JSON, with caches that are kept.
class Service {
 public:
  [[nodiscard]] std::string ask(const std::string& request) {
    const py::gil_scoped_release released;
    return service_.answer(request);
  }

 private:
  serve::Service service_{cli::request_runner()};
};

// A trained model, ready to answer.
class Model {
 public:
  explicit Model(const std::string& path)
      : model_(std::make_unique<learn::Model>(value_or_throw(learn::read_model(path)))),
        estimator_(std::make_unique<learn::Estimator>(*model_)) {}

  [[nodiscard]] std::vector<std::string> targets() const {
    std::vector<std::string> names;
    for (const learn::Part& part : model_->parts)
      for (const learn::Target& target : part.targets) names.push_back(target.name);
    return names;
  }

  [[nodiscard]] std::vector<std::string> features() const {
    std::vector<std::string> names;
    for (const learn::Feature& feature : model_->features) names.push_back(feature.column.name);
    return names;
  }

  [[nodiscard]] std::string metrics() const { return model_->metrics; }

  [[nodiscard]] py::dict predict(const py::dict& columns, bool intervals, unsigned jobs) const {
    const dataset::Table table =
        from_arrays(columns, [&](const std::string& name) { return estimator_->asks_for(name); });
    Result<std::vector<learn::RowEstimate>> found = estimates(table, intervals, jobs);
    // Then the message may name any column.
    if (!found) found = estimates(from_arrays(columns, [](const std::string&) { return true; }), intervals, jobs);
    const std::vector<learn::RowEstimate> rows = value_or_throw(std::move(found));
    dataset::Table out;
    out.rows = rows.size();
    const auto add = [&](const std::string& name, auto value) {
      dataset::Values values;
      values.column.name = name;
      for (const learn::RowEstimate& row : rows) values.numbers.push_back(value(row));
      out.columns.push_back(std::move(values));
    };
    const std::vector<std::string> names = targets();
    for (std::size_t t = 0; t < names.size(); ++t) {
      add(names[t], [t](const learn::RowEstimate& row) { return row.targets[t].value; });
      if (!intervals) continue;
      for (const std::size_t level : {std::size_t{0}, std::size_t{2}}) {
        const std::string share = level == 0 ? "80" : "95";
        add(names[t] + "_low_" + share,
            [=](const learn::RowEstimate& row) { return row.targets[t].intervals[level].low; });
        add(names[t] + "_high_" + share,
            [=](const learn::RowEstimate& row) { return row.targets[t].intervals[level].high; });
      }
    }
    if (intervals)
      add("out_of_domain", [](const learn::RowEstimate& row) { return row.out_of_domain.empty() ? 0.0 : 1.0; });
    return to_arrays(std::move(out));
  }

 private:
  [[nodiscard]] Result<std::vector<learn::RowEstimate>> estimates(const dataset::Table& table, bool intervals,
                                                                  unsigned jobs) const {
    const py::gil_scoped_release released;
    return estimator_->estimate(table, intervals, std::max(1u, jobs));
  }

  std::unique_ptr<learn::Model> model_;
  std::unique_ptr<learn::Estimator> estimator_;
};

}  // namespace

PYBIND11_MODULE(_core, m) {
  m.doc() = "The inside of the package noteg.";
  m.attr("version") = NOTEG_VERSION;
  py::register_exception<InputError>(m, "InputError", PyExc_ValueError);
  m.def("run", &run, py::arg("command"), py::arg("words"));
  m.def("shipped_kernels", &kernels::shipped_kernels);
  m.def("read_table", &read_table, py::arg("path"));
  py::class_<Service>(m, "Service").def(py::init<>()).def("ask", &Service::ask, py::arg("request"));
  py::class_<Model>(m, "Model")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def_property_readonly("targets", &Model::targets)
      .def_property_readonly("features", &Model::features)
      .def_property_readonly("metrics_json", &Model::metrics)
      .def("predict", &Model::predict, py::arg("columns"), py::arg("intervals") = true, py::arg("jobs") = 1);
}

}  // namespace noteg::python
