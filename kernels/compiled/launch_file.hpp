// How a compiled kernel is launched: grid, block, shared memory and arguments, as the launch file says; and what its
// user assumes where data decides. Units as everywhere; mistakes point at the line.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/support/result.hpp"

namespace noteg::compiled {

using Extent = std::array<std::int64_t, 3>;  // x, y, z

enum class ArgumentKind : std::uint8_t { i8, i16, i32, i64, f16, f32, f64, buffer, tensor_map, bytes };

// What a buffer holds, as far as that can decide anything.
enum class Content : std::uint8_t {
  unknown,
  zero,
  index,     // random integers below Argument::below
  offsets,   // integers that grow evenly from 0 to Argument::below
  bytes_u8,  // random bytes
  f32,       // random numbers between -1 and 1
  f16,
  bf16,
  f64
};

// A tensor map: rows and columns are its two inner dimensions; a box may take several planes of the outer ones.
struct TensorMap {
  std::int64_t rows = 0, columns = 0, box_rows = 0, box_columns = 0;
  int element_bytes = 2;
  std::int64_t pitch = 0;                              // bytes from row to row; 0: rows lie close
  std::array<std::int64_t, 3> outer{}, outer_pitch{};  // planes, and bytes from one to the next; 0: no such dimension
  std::array<std::int64_t, 3> box_outer{1, 1, 1};      // planes of a box

  [[nodiscard]] std::int64_t row_pitch() const { return pitch != 0 ? pitch : columns * element_bytes; }
};

struct Argument {
  ArgumentKind kind = ArgumentKind::i32;
  std::string name;        // buffers and tensor maps
  std::int64_t value = 0;  // integers; floating-point numbers as their bits
  std::int64_t bytes = 0;  // of a buffer
  Content content = Content::unknown;
  std::int64_t below = 0;
  int integer_bytes = 4;  // of an index or offset: 4, or 8
  TensorMap map{};
  bool by_value = false;     // a tensor map: 128 bytes among the parameters instead of a pointer
  std::string raw;           // bytes: a structure passed by value, as the launch has it in memory
  std::int64_t aligned = 0;  // bytes and maps by value: to so many; 0: as the compiler does

  [[nodiscard]] std::int64_t size() const;  // among the parameters
  [[nodiscard]] std::int64_t alignment() const;
};

// `at`: the address of a branch or a load.
struct Assumption {
  std::int64_t taken = 0;               // a branch: so many times in a row, then not; -1 always
  std::optional<std::int64_t> value{};  // a load: what it brings
};

struct Launch {
  std::string file;
  std::string kernel;  // empty: the only one of the listing
  Extent grid{1, 1, 1}, block{1, 1, 1};
  std::optional<Extent> cluster{};              // CTAs; without: one, or as the code's multicasts say
  std::int64_t dynamic_shared = 0;              // bytes
  std::optional<std::int64_t> static_shared{};  // bytes; from the cubin where there is one
  std::optional<int> registers{};               // per thread; likewise
  std::vector<Argument> arguments;
  std::map<std::uint32_t, Assumption> assumptions;

  // A year's work and more; warps, threads and bytes of all of them can be counted, too.
  static constexpr std::int64_t most_ctas = std::int64_t{1} << 48;
  [[nodiscard]] bool counts_its_ctas() const {
    return static_cast<double>(grid[0]) * static_cast<double>(grid[1]) * static_cast<double>(grid[2]) <=
           static_cast<double>(most_ctas);
  }
  [[nodiscard]] std::int64_t ctas() const { return grid[0] * grid[1] * grid[2]; }
  // CTAs of a cluster along an axis, and in all; 1 where the launch names none.
  [[nodiscard]] std::int64_t cluster_along(std::size_t axis) const { return cluster ? (*cluster)[axis] : 1; }
  [[nodiscard]] std::int64_t cluster_ctas() const { return cluster_along(0) * cluster_along(1) * cluster_along(2); }
  // How many CTAs come before one in the order of the grid.
  [[nodiscard]] std::int64_t before(const std::array<std::uint32_t, 3>& cta) const {
    return cta[0] + grid[0] * (cta[1] + grid[1] * std::int64_t{cta[2]});
  }
  [[nodiscard]] std::int64_t threads() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] int warps() const { return static_cast<int>((threads() + 31) / 32); }
};

[[nodiscard]] Result<Launch> read_launch_file(const std::filesystem::path& path);
[[nodiscard]] Result<Launch> parse_launch(std::string_view text, std::string file);

// The columns of a measured row: "16x16x1", "32x32x1", "i=512 l=7 f=0.18 p=A:1048576:f32 tm=A:64:64:8:8 x=00000080".
// x: words of a structure; tensor maps among them are read as the driver wrote them.
struct LaunchText {
  std::string_view kernel, grid, block, dynamic_shared, arguments, static_shared, registers;
  std::string_view cluster{};  // empty: none that is known
};
[[nodiscard]] Result<Launch> launch_from_row(const LaunchText& row, const std::string& file, int line);

}  // namespace noteg::compiled
