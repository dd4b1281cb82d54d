#include <algorithm>
#include <cstddef>

#include "kernels/compiled/emulator/machine.hpp"
#include "sim/support/arithmetic.hpp"

namespace noteg::compiled {
namespace {

// Where constant bank 0 holds what (listings of nvcc 11 to 13).
struct BankLayout {
  int parameters, descriptor, stack, block, grid;
  int window;  // the generic address of offset 0x1e0 of the bank, from sm_90 on (tensor maps passed by value); 0: none
};

constexpr BankLayout layout_of(int sm) {
  if (sm >= 100) return {0x380, 0x358, 0x37c, 0x360, 0x370, 0};
  if (sm >= 90) return {0x210, 0x208, 0x28, 0x0, 0xc, 0x198};
  return {0x160, 0x118, 0x28, 0x0, 0xc, 0};
}

constexpr std::uint64_t first_buffer = 0x7f0000000000, alignment = 2 << 20;  // as cuMemAlloc places large ones
constexpr std::uint64_t bank_window = 0x7e0000000000;  // where bank 0 lies among generic addresses
constexpr int window_offset = 0x1e0;
constexpr std::uint32_t stack_top = 0xfffdc0;

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
  if (layout.window != 0) put(layout.window, bank_window + window_offset, 8);
  std::uint64_t next = first_buffer;
  std::int64_t offset = layout.parameters;
  for (const Argument& argument : launch.arguments) {
    const std::int64_t size = argument.size(), align = argument.alignment();
    offset = layout.parameters + (offset - layout.parameters + align - 1) / align * align;
    std::uint64_t value = static_cast<std::uint64_t>(argument.value);
    if (argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::tensor_map) {
      const auto same = std::ranges::find_if(
          buffers_, [&](const Buffer& b) { return b.name == argument.name && b.bytes == argument.bytes; });
      if (same != buffers_.end()) {
        value = same->base;
      } else {
        value = next;
        buffers_.push_back({argument.name, value, argument.bytes, argument.content, argument.below});
        next += (static_cast<std::uint64_t>(argument.bytes) + alignment) / alignment * alignment;
      }
    }
    if (argument.kind == ArgumentKind::tensor_map)
      maps_.push_back(
          {argument.by_value ? bank_window + static_cast<std::uint64_t>(offset) : value, value, argument.map});
    if (argument.kind == ArgumentKind::bytes) {
      for (std::size_t i = 0; i < argument.raw.size(); ++i)
        put(offset + static_cast<std::int64_t>(i), static_cast<unsigned char>(argument.raw[i]), 1);
    } else {
      put(offset, value, static_cast<int>(std::min<std::int64_t>(size, 8)));
    }
    offset += size;
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
    case Content::zero: return 0;
    case Content::index:
      if (bytes < 4 || offset % 4 != 0) return std::nullopt;
      return static_cast<std::uint32_t>(split_mix(offset / 4 + 977 * static_cast<std::uint64_t>(index)) %
                                        static_cast<std::uint64_t>(buffer.below));
    case Content::bytes_u8: {
      std::uint32_t value = 0;
      for (int i = 0; i < std::min(bytes, 4); ++i)
        value |= static_cast<std::uint32_t>(split_mix(offset + static_cast<std::uint64_t>(i)) & 0xff) << (8 * i);
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace noteg::compiled
