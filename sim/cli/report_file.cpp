#include "sim/cli/report_file.hpp"

#include "sim/cli/command.hpp"
#include "sim/cli/console.hpp"
#include "sim/pages/assets.hpp"

namespace noteg::cli {

Option report_option() {
  return {"report", "FILE", "writes the result as one HTML page with charts, for any browser", false, FileUse::output};
}

void check_report(const Arguments& arguments, Diagnostics& errors) {
  if (arguments.text("report") == "-")
    errors.push_back({"", 0, 0, "--report", "a file to write, such as report.html", "\"-\""});
}

int write_report(const Arguments& arguments, const std::function<std::string()>& page) {
  const std::optional<std::string> path = arguments.text("report");
  if (!path) return done;
  if (pages::chart_library().empty() && !arguments.has("quiet"))
    tell("this program was built without a chart library (Debian: libjs-chart.js): the report holds tables only");
  return write_file(*path, page());
}

}  // namespace noteg::cli
