// Instruction streams: what the warps of a CTA execute from their start to their end, and how far each has come. Warps
// that execute the same have one stream; the first of them in their CTA leads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/sm/counters.hpp"
#include "sim/sm/warp.hpp"

namespace noteg::sm {

class Machine;

class Streams {
 public:
  struct Stream {
    std::vector<double> offset;       // instructions before each, inner loops counted as often as they run
    std::vector<double> length;       // of an iteration of each loop
    std::vector<std::int64_t> count;  // iterations of each loop
    std::vector<std::int64_t> step;   // iterations of each loop over tiles that make a unit with those of other streams
    double total = 0;
    int warps = 0;
  };
  // Streams of CTAs that are inside loops of one depth.
  struct RunningSet {
    std::uint64_t key = 0;
    std::int64_t streams = 0;
    double instructions = 0;              // of all their warps in an iteration of each
    std::int64_t iterations = 1LL << 40;  // of the loop that has fewest
  };

  explicit Streams(const Machine& sm);

  [[nodiscard]] const Stream& of(const Warp& warp) const;
  [[nodiscard]] std::size_t index_of(const Warp& warp) const;
  [[nodiscard]] const std::vector<int>& leaders() const { return leaders_; }  // places, one of each stream
  [[nodiscard]] int leader_of(const Warp& warp) const { return leaders_[index_of(warp)]; }
  // The loop of that depth in which the warp is, -1: none.
  [[nodiscard]] int loop_at(const Warp& warp, int depth) const;
  // Instructions that the warp has executed since its CTA started; those of all warps of a CTA from start to end.
  [[nodiscard]] double position(const Warp& warp) const;
  [[nodiscard]] double cta_instructions() const { return cta_instructions_; }
  [[nodiscard]] std::array<double, opcode_count> cta_issued() const;  // the same by opcode
  // Iterations after which all rings of barriers are where they were.
  [[nodiscard]] std::int64_t turn() const { return turn_; }

  // Of all CTAs, which are inside loops of that depth; nothing where one is in none of them, but for warps that wait.
  [[nodiscard]] RunningSet running_set(int depth) const;
  // Instructions of a CTA outside of the loops of that depth in which the CTAs are.
  [[nodiscard]] double outside_loops(int depth) const;
  // Iterations that make a unit of the CTA: so many that the loops in which its streams are pass as many phases of the
  // barriers that they share. A warp that copies for others often has its loop unrolled, and goes through it once while
  // they multiply four times. By stream; 1 where nothing ties loops together.
  [[nodiscard]] const std::vector<std::int64_t>& steps(std::size_t slot, int depth);
  // The warp is so many iterations further in a loop, and along the rings of barriers.
  void advance(Warp& warp, int loop, std::int64_t iterations) const;

 private:
  // Phases of each ring in an iteration of a loop: those that a warp of the stream waits for, and the arrivals of all.
  struct Phases {
    std::vector<double> waits, arrivals;
  };

  [[nodiscard]] Stream stream_of(int place) const;
  [[nodiscard]] Phases phases_of(std::size_t stream, int loop) const;
  [[nodiscard]] std::vector<std::int64_t> steps_of(const std::vector<int>& loops) const;

  const Machine& sm_;
  std::vector<Stream> streams_;
  std::vector<std::size_t> stream_of_place_;
  std::vector<int> leaders_;
  std::map<std::vector<int>, std::vector<std::int64_t>> steps_;  // by the loop of each stream
  std::int64_t turn_ = 1;
  double cta_instructions_ = 0;
};

}  // namespace noteg::sm
