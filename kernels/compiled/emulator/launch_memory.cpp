#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "kernels/compiled/emulator/machine.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::compiled {
namespace {

// Where constant bank 0 holds what (listings of nvcc 11 to 13).
struct BankLayout {
  int parameters, descriptor, stack, block, grid;
  int window;   // where the generic address of the parameters stands, from sm_90 on (maps passed by value); 0: nowhere
  int cluster;  // whether the launch names one, its three sizes, and one over each (listings of CUTLASS); 0: nowhere
};

constexpr BankLayout layout_of(int sm) {
  if (sm >= 100) return {0x380, 0x358, 0x37c, 0x360, 0x370, 0, 0};
  if (sm >= 90) return {0x210, 0x208, 0x28, 0x0, 0xc, 0x198, 0x140};
  return {0x160, 0x118, 0x28, 0x0, 0xc, 0, 0};
}

constexpr std::uint64_t first_buffer = 0x7f0000000000, alignment = 2 << 20;  // as cuMemAlloc places large ones
constexpr std::uint64_t bank_window = 0x7e0000000000;  // where bank 0 lies among generic addresses

// What the driver writes into a CUtensorMap, as it stands in parameters of CUTLASS and FlashAttention-3 kernels whose
// shapes are known: address; pitches of outer dimensions by 16 bytes (words 3 to 6); extents less one (8 to 12); those
// of the box less one, a byte each, from the top byte of word 13 on; bytes of the box (word 16).
std::optional<LaunchMemory::Map> encoded_map(std::string_view bytes) {
  std::array<std::uint32_t, 32> word{};
  std::memcpy(word.data(), bytes.data(), sizeof word);
  const auto box = [&](std::size_t i) {
    return std::int64_t{i == 0 ? word[13] >> 24 : word[14] >> (8 * (i - 1)) & 0xff} + 1;
  };
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < 5; ++i) {
    if (box(i) > std::int64_t{word[8 + i]} + 1 && i >= 2) return std::nullopt;
    elements *= box(i);
  }
  const std::int64_t of_box = word[16], size = elements > 0 ? of_box / elements : 0;
  const bool sized = size * elements == of_box && (size == 1 || size == 2 || size == 4 || size == 8);
  if (!sized || word[3] == 0 || (word[13] & 0xffffff) != 0 || (word[0] == 0 && word[1] == 0) || word[1] >> 16 != 0)
    return std::nullopt;
  LaunchMemory::Map out;
  out.base = std::uint64_t{word[1]} << 32 | word[0];
  out.map.rows = std::int64_t{word[9]} + 1;
  out.map.columns = std::int64_t{word[8]} + 1;
  out.map.box_rows = box(1);
  out.map.box_columns = box(0);
  out.map.element_bytes = static_cast<int>(size);
  out.map.pitch = std::int64_t{word[3]} * 16;
  for (std::size_t i = 0; i < 3; ++i) {
    if (word[4 + i] == 0) continue;
    out.map.outer[i] = std::int64_t{word[10 + i]} + 1;
    out.map.outer_pitch[i] = std::int64_t{word[4 + i]} * 16;
    out.map.box_outer[i] = box(2 + i);
  }
  return out;
}

// A word of random numbers between -1 and 1; of half precision, between 0.5 and 1.
std::uint32_t number(const LaunchMemory::Buffer& buffer, std::uint64_t offset) {
  const auto word = [&](std::uint64_t at) { return split_mix(buffer.base + at); };
  switch (buffer.content) {
    case Content::f16: return (static_cast<std::uint32_t>(word(offset)) & 0x83ff83ff) | 0x38003800;
    case Content::bf16: return (static_cast<std::uint32_t>(word(offset)) & 0x807f807f) | 0x3f003f00;
    case Content::f64: {
      const double v = static_cast<double>(word(offset & ~std::uint64_t{7}) >> 11) * 0x1p-52 - 1;
      return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(v) >> (offset % 8 * 8));
    }
    default: return std::bit_cast<std::uint32_t>(static_cast<float>(word(offset) >> 40) * 0x1p-23f - 1);
  }
}

}  // namespace

LaunchMemory::LaunchMemory(const Launch& launch, int sm) : sm_(sm), bank_(32768 + 4096), known_(bank_.size()) {
  const BankLayout layout = layout_of(sm);
  parameters_ = layout.parameters;
  for (int i = 0; i < 3; ++i) {
    put(layout.block + 4 * i, static_cast<std::uint64_t>(launch.block[static_cast<std::size_t>(i)]), 4);
    put(layout.grid + 4 * i, static_cast<std::uint64_t>(launch.grid[static_cast<std::size_t>(i)]), 4);
  }
  put(layout.stack, stack_top, 4);
  put(layout.descriptor, 0, 8);
  if (layout.window != 0) put(layout.window, bank_window + static_cast<std::uint64_t>(layout.parameters), 8);
  if (layout.cluster != 0) {
    put(layout.cluster, launch.cluster ? 1 : 0, 4);
    for (int i = 0; i < 3; ++i) {
      const std::int64_t ctas = launch.cluster_along(static_cast<std::size_t>(i));
      put(layout.cluster + 4 + 4 * i, static_cast<std::uint64_t>(ctas), 4);
      put(layout.cluster + 16 + 4 * i, std::bit_cast<std::uint32_t>(1.0f / static_cast<float>(ctas)), 4);
    }
  }
  std::uint64_t next = first_buffer;
  std::int64_t offset = layout.parameters;
  for (const Argument& argument : launch.arguments) {
    const std::int64_t size = argument.size(), align = argument.alignment();
    offset = (offset + align - 1) / align * align;
    std::uint64_t value = static_cast<std::uint64_t>(argument.value);
    if (argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::tensor_map) {
      const auto same = std::ranges::find_if(
          buffers_, [&](const Buffer& b) { return b.name == argument.name && b.bytes == argument.bytes; });
      if (same != buffers_.end()) {
        value = same->base;
      } else {
        value = next;
        buffers_.push_back(
            {argument.name, value, argument.bytes, argument.content, argument.below, argument.integer_bytes});
        next += (static_cast<std::uint64_t>(argument.bytes) + alignment) / alignment * alignment;
      }
    }
    if (argument.kind == ArgumentKind::tensor_map)
      maps_.push_back(
          {argument.by_value ? bank_window + static_cast<std::uint64_t>(offset) : value, value, argument.map});
    if (argument.kind == ArgumentKind::bytes) {
      for (std::size_t i = 0; i < argument.raw.size(); ++i)
        put(offset + static_cast<std::int64_t>(i), static_cast<unsigned char>(argument.raw[i]), 1);
      find_maps(offset, argument.raw);
    } else {
      put(offset, value, static_cast<int>(std::min<std::int64_t>(size, 8)));
    }
    offset += size;
  }
}

void LaunchMemory::find_maps(std::int64_t offset, const std::string& raw) {
  constexpr std::size_t map_bytes = 128, step = 64;
  const auto begin = static_cast<std::size_t>((offset + 63) / 64 * 64 - offset);
  for (std::size_t at = begin; at + map_bytes <= raw.size(); at += step) {
    const auto found = encoded_map(std::string_view(raw).substr(at, map_bytes));
    if (!found) continue;
    const std::uint64_t descriptor = bank_window + static_cast<std::uint64_t>(offset) + at;
    maps_.push_back({descriptor, found->base, found->map});
    if (buffer_at(found->base) >= 0) continue;
    std::int64_t bytes = found->map.rows * found->map.row_pitch();
    for (std::size_t i = 0; i < 3; ++i) bytes = std::max(bytes, found->map.outer[i] * found->map.outer_pitch[i]);
    buffers_.push_back({fmt::format("tensor {}", maps_.size()), found->base, bytes, Content::unknown});
  }
}

void LaunchMemory::put(std::int64_t offset, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    const auto at = static_cast<std::size_t>(offset + i);
    if (at >= bank_.size()) return;
    bank_[at] = static_cast<std::uint8_t>(value >> (8 * i));
    known_[at] = 1;
  }
}

std::optional<std::uint32_t> LaunchMemory::constant(std::int64_t offset) const {
  if (offset < 0 || offset + 4 > static_cast<std::int64_t>(bank_.size())) return std::nullopt;
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const auto at = static_cast<std::size_t>(offset + i);
    if (known_[at] == 0 && i == 0) return std::nullopt;
    value |= static_cast<std::uint32_t>(bank_[at]) << (8 * i);
  }
  return value;
}

const LaunchMemory::Map* LaunchMemory::map_at(std::uint64_t descriptor) const {
  const auto at = std::ranges::find(maps_, descriptor, &Map::descriptor);
  return at != maps_.end() ? &*at : nullptr;
}

int LaunchMemory::buffer_at(std::uint64_t address) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (address >= buffers_[i].base &&
        address < buffers_[i].base + static_cast<std::uint64_t>(std::max<std::int64_t>(buffers_[i].bytes, 1)))
      return static_cast<int>(i);
  }
  return -1;
}

std::optional<std::uint32_t> LaunchMemory::load(std::uint64_t address, int bytes, int word) const {
  const int index = buffer_at(address);
  if (index < 0) return std::nullopt;
  const Buffer& buffer = buffers_[static_cast<std::size_t>(index)];
  const std::uint64_t offset = address - buffer.base + 4 * static_cast<std::uint64_t>(word);
  switch (buffer.content) {
    case Content::unknown: return std::nullopt;
    case Content::f32:
    case Content::f16:
    case Content::bf16:
    case Content::f64: return bytes < 4 || offset % 4 != 0 ? std::nullopt : std::optional(number(buffer, offset));
    case Content::zero: return 0;
    case Content::index:
    case Content::offsets: {
      if (bytes < 4 || offset % 4 != 0) return std::nullopt;
      const auto width = static_cast<std::uint64_t>(buffer.integer_bytes);
      const std::uint64_t at = offset / width, half = offset % width / 4;
      const double steps = std::max(1.0, static_cast<double>(buffer.bytes / buffer.integer_bytes - 1));
      const std::uint64_t value =
          buffer.content == Content::index
              ? split_mix(at + 977 * static_cast<std::uint64_t>(index)) % static_cast<std::uint64_t>(buffer.below)
              : static_cast<std::uint64_t>(static_cast<double>(at) / steps * static_cast<double>(buffer.below));
      return static_cast<std::uint32_t>(value >> 32 * half);
    }
    case Content::bytes_u8: {
      std::uint32_t value = 0;
      for (int i = 0; i < std::min(bytes, 4); ++i)
        value |= static_cast<std::uint32_t>(split_mix(offset + static_cast<std::uint64_t>(i)) & 0xff) << (8 * i);
      return value;
    }
  }
  return std::nullopt;
}

bool LaunchMemory::has_numbers() const {
  return std::ranges::any_of(buffers_, [](const Buffer& buffer) { return buffer.content >= Content::f32; });
}

}  // namespace noteg::compiled
