// A sweep into a data set: rows are simulated by many threads, or by the ranks of an MPI job, and written by one writer
// as they come. What is there already is not run again. The rows are the same for any number of threads or ranks and
// after any interruption; only the order in which they are written differs, and whoever reads sorts by row_id.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "sim/dataset/plan.hpp"
#include "sim/dataset/sweep.hpp"
#include "sim/support/result.hpp"

namespace noteg::dataset {

struct GenerateOptions {
  unsigned jobs = 1;
  Shard shard;
  std::function<void(std::size_t, std::size_t)> progress;  // rows in the file, rows that will be there
  const std::atomic<bool>* stop = nullptr;                 // once true, rows at hand are finished and written
};

struct Generated {
  std::size_t rows = 0;     // of the sweep, or of the shard
  std::size_t before = 0;   // in the file already
  std::size_t written = 0;  // now
  std::size_t failed = 0;   // of all in the file: runs that are impossible, with the reason
  [[nodiscard]] bool complete() const { return before + written == rows; }
};

class Ranks;

// path: an SQLite file, or a .csv, which is made from an SQLite file beside it (path + ".part") when all rows are
// there. Errors as of Store::open; StoreError where a file cannot be written.
[[nodiscard]] Result<Generated> generate(const Sweep& sweep, const std::string& path, const GenerateOptions& options);

// The same by the processes of an MPI job, each of which calls it; the result is the writer's, the others' is empty.
[[nodiscard]] Result<Generated> generate(const Sweep& sweep, const std::string& path, const GenerateOptions& options,
                                         const Ranks& ranks);

}  // namespace noteg::dataset
