// Just enough of the Protocol Buffers wire format to write a message: fields with their number and wire type
// (protobuf.dev/programming-guides/encoding). Nothing is read.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace noteg::learn {

static_assert(std::endian::native == std::endian::little, "fixed-width fields are written as they lie in memory");

class ProtobufMessage {
 public:
  ProtobufMessage& whole(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }

  ProtobufMessage& text(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }

  ProtobufMessage& message(int field, const ProtobufMessage& value) { return text(field, value.bytes_); }

  // Packed: all values behind one key.
  template <class Whole>
  ProtobufMessage& wholes(int field, std::span<const Whole> values) {
    ProtobufMessage packed;
    for (const Whole value : values) packed.varint(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    return message(field, packed);
  }

  // Numbers as they lie in memory: the raw data of a tensor.
  template <class Number>
  ProtobufMessage& raw(int field, std::span<const Number> values) {
    return text(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, int wire_type) {
    varint(static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(wire_type));
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace noteg::learn
