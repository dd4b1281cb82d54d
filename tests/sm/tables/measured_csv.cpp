#include "tests/sm/tables/measured_csv.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace noteg::sm::tables {

std::vector<MicroBenchmark> micro_benchmarks() {
  std::ifstream file(std::string(NOTEG_SOURCE_DIR) + "/tests/data/h200_micro.csv");
  if (!file) throw std::runtime_error("tests/data/h200_micro.csv: cannot be read");
  std::vector<MicroBenchmark> out;
  std::string line;
  std::getline(file, line);  // names of the columns
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    MicroBenchmark row;
    std::string value;
    std::getline(cells, row.name, ',');
    std::getline(cells, row.params, ',');
    std::getline(cells, value, ',');
    std::getline(cells, row.unit, ',');
    row.value = std::stod(value);
    std::stringstream parts(row.params);
    for (std::string part; std::getline(parts, part, ';');) {
      const auto equals = part.find('=');
      if (equals != std::string::npos) row.parameters[part.substr(0, equals)] = part.substr(equals + 1);
    }
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace noteg::sm::tables
