// A sweep into a data set: rows are simulated by many threads, or by the ranks of an MPI job, and written by one writer
// as they come. What is there already is not run again. The rows are the same for any number of threads or ranks and
// after any interruption; only the order in which they are written differs, and whoever reads sorts by row_id.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/dataset/items.hpp"
#include "sim/dataset/store.hpp"
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

// The one writer: rows to the file, and how far the work is.
class Writer {
 public:
  Writer(Store& store, const GenerateOptions& options, Generated& result)
      : store_(store), options_(options), result_(result) {}

  void write(const std::vector<FinishedRow>& rows);
  [[nodiscard]] bool stopped() const { return options_.stop != nullptr && *options_.stop; }

 private:
  Store& store_;
  const GenerateOptions& options_;
  Generated& result_;
};

// Threads of this process do all units.
void run_on_threads(const Sweep& sweep, const Items& items, const std::vector<Unit>& units, unsigned jobs,
                    Writer& writer);

// The processes of an MPI job that share one sweep: rank 0 hands out units and is the only writer, the others simulate.
// Units are handed out as ranks ask for them, so that slow nodes and long rows even out. Built without MPI there is one
// rank, and a job of several is refused: its processes would all do the same work.
class Ranks {
 public:
  // Joins the job that mpirun or a scheduler started this process in, if it did. One object per process.
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] int count() const;
  [[nodiscard]] bool is_writer() const;  // true where there is one rank only

  // Do all ranks hold this text? Each must ask.
  [[nodiscard]] bool same_everywhere(const std::string& text) const;

  // What the writer says, on every rank; the others' own value does not matter.
  [[nodiscard]] int agree(int writers_word) const;

  // On the writer, with at least one other rank: until every unit is written, or the writer was stopped. Throws what
  // went wrong here or on another rank, after all others have ended.
  void hand_out(const std::vector<Unit>& units, Writer& writer) const;

  // On every other rank: simulates what it is given until there is no more.
  void work(const Sweep& sweep, const Items& items, const GenerateOptions& options) const;

 private:
  struct Job;
  std::unique_ptr<Job> job_;
};

}  // namespace noteg::dataset
