#include "sim/cli/switch_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/gpu/switches.hpp"

namespace noteg::cli {
namespace {

std::string as_text() {
  std::string text = "--set NAME=VALUE takes a limit away; the first value is the default.\n";
  for (const gpu::SwitchInfo& row : gpu::switch_table()) {
    text += fmt::format("\n{} = {}\n  {}\n  {}\n", row.name, fmt::join(row.values, " | "), row.sentence, row.removes);
  }
  return text;
}

std::string as_json() {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const gpu::SwitchInfo& row : gpu::switch_table()) {
    json.push_back({{"name", row.name},
                    {"values", row.values},
                    {"default", row.values.front()},
                    {"models", row.sentence},
                    {"removes", row.removes}});
  }
  return json.dump(2) + "\n";
}

std::string as_csv() {
  std::string text = "name,values,default,models,removes\n";
  for (const gpu::SwitchInfo& row : gpu::switch_table()) {
    text += fmt::format("{},{},{},\"{}\",\"{}\"\n", row.name, fmt::join(row.values, " "), row.values.front(),
                        row.sentence, row.removes);
  }
  return text;
}

}  // namespace

int list_switches(Format format) {
  switch (format) {
    case Format::text: return print(as_text());
    case Format::json: return print(as_json());
    case Format::csv: return print(as_csv());
  }
  return failed;
}

}  // namespace noteg::cli
