// The processes of an MPI job that share one sweep: rank 0 hands out units and is the only writer, the others simulate.
// Units are handed out as ranks ask for them, so that slow nodes and long rows even out. Built without MPI there is one
// rank, and a job of several is refused: its processes would all do the same work.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/dataset/generate_parts.hpp"

namespace noteg::dataset {

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
