#include "sim/dataset/generate.hpp"

#include <exception>
#include <filesystem>
#include <memory>
#include <optional>

#include "sim/dataset/export.hpp"
#include "sim/dataset/generate_parts.hpp"
#include "sim/dataset/ranks.hpp"

namespace noteg::dataset {
namespace {

namespace fs = std::filesystem;

constexpr int go_on = 1, end_now = 0;

// Opens the file and does what is missing there; other ranks are told whether they are needed.
Result<Generated> into_database(const Sweep& sweep, const std::string& path, const GenerateOptions& options,
                                const Ranks& ranks) {
  std::optional<Result<std::unique_ptr<Store>>> store;
  std::exception_ptr error;
  try {
    store = Store::open(path, sweep, options.shard);
  } catch (...) {
    error = std::current_exception();
  }
  (void)ranks.agree(store && *store ? go_on : end_now);
  if (error) std::rethrow_exception(error);
  if (!*store) return store->errors();

  Store& open = ***store;
  const Items items(sweep);
  std::vector<Unit> units = plan_units(items, options.shard);
  Generated result;
  result.rows = rows_of(units);
  result.before = open.rows_done().size();
  result.failed = open.failed_before();
  units = without(std::move(units), open.rows_done());
  Writer writer(open, options, result);
  if (ranks.count() > 1)
    ranks.hand_out(units, writer);
  else
    run_on_threads(sweep, items, units, options.jobs, writer);
  open.finish();
  return result;
}

bool is_there(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

// What was worked in goes once the CSV file is there in full.
void write_csv(const std::string& part, const std::string& path) {
  export_csv(part, path, {});
  std::error_code failed;
  fs::remove(part, failed);
}

// The result where this process only simulated for another one.
Generated work_for_writer(const Sweep& sweep, const GenerateOptions& options, const Ranks& ranks) {
  if (ranks.agree(end_now) == go_on) ranks.work(sweep, Items(sweep), options);
  return {};
}

}  // namespace

void Writer::write(const std::vector<FinishedRow>& rows) {
  store_.write(rows);
  for (const FinishedRow& row : rows) result_.failed += row.error.empty() ? 0 : 1;
  result_.written += rows.size();
  if (!rows.empty() && options_.progress) options_.progress(result_.before + result_.written, result_.rows);
}

Result<Generated> generate(const Sweep& sweep, const std::string& path, const GenerateOptions& options) {
  const Ranks alone_or_not;
  return generate(sweep, path, options, alone_or_not);
}

Result<Generated> generate(const Sweep& sweep, const std::string& path, const GenerateOptions& options,
                           const Ranks& ranks) {
  if (!ranks.is_writer()) return work_for_writer(sweep, options, ranks);
  if (!path.ends_with(".csv")) return into_database(sweep, path, options, ranks);
  const std::string part = path + ".part";
  if (is_there(path) && !is_there(part)) {
    (void)ranks.agree(end_now);
    return Diagnostic{path,
                      0,
                      0,
                      "--out",
                      "a file that is not there yet: a CSV file cannot be gone on with",
                      "one that is (remove it, or write an SQLite file)"};
  }
  std::error_code failed;
  if (fs::is_symlink(part, failed)) {  // whoever laid it there chose what is written to
    (void)ranks.agree(end_now);
    return Diagnostic{part, 0, 0, "", "a file of this program, or none", "a symbolic link"};
  }
  Result<Generated> result = into_database(sweep, part, options, ranks);
  if (result && result->complete()) write_csv(part, path);
  return result;
}

}  // namespace noteg::dataset
