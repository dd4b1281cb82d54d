#include "sim/cli/report_file.hpp"

#include <filesystem>

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/report/html/assets.hpp"

namespace noteg::cli {

Option report_option() {
  return {"report", "FILE", "writes the result as one HTML page with charts, for any browser", false};
}

void check_report(const Arguments& arguments, Diagnostics& errors) {
  const std::optional<std::string> path = arguments.text("report");
  if (!path) return;
  std::error_code ignored;
  if (path->empty() || *path == "-" || std::filesystem::is_directory(*path, ignored))
    errors.push_back({"", 0, 0, "--report", "a file to write, such as report.html", "\"" + *path + "\""});
  else if (!has_folder(*path))
    errors.push_back({"", 0, 0, "--report", "a file in a folder that exists", "\"" + *path + "\""});
}

int write_report(const Arguments& arguments, const std::function<std::string()>& page) {
  const std::optional<std::string> path = arguments.text("report");
  if (!path) return done;
  if (html::chart_library().empty() && !arguments.has("quiet"))
    tell("this program was built without a chart library (Debian: libjs-chart.js): the report holds tables only");
  return write_file(*path, page());
}

}  // namespace noteg::cli
