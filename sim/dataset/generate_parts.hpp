// What the two ways of working, threads and ranks, have in common.
#pragma once

#include <vector>

#include "sim/dataset/generate.hpp"
#include "sim/dataset/store.hpp"

namespace noteg::dataset {

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

}  // namespace noteg::dataset
