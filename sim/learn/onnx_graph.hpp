// A small ONNX graph (IR 8, ai.onnx 17, ai.onnx.ml 3) put together node by node. Field numbers are those of
// onnx.proto (onnx/onnx, Apache-2.0).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace noteg::learn {

// Just enough of the Protocol Buffers wire format to write a message: fields with their number and wire type
// (protobuf.dev/programming-guides/encoding). Nothing is read.

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

enum class OnnxType : std::uint8_t { f32 = 1, i64 = 7, f64 = 11 };

// Attributes of one node.
class OnnxAttributes {
 public:
  OnnxAttributes& whole(std::string_view name, std::int64_t value);
  OnnxAttributes& text(std::string_view name, std::string_view value);
  OnnxAttributes& wholes(std::string_view name, std::span<const std::int64_t> values);
  OnnxAttributes& texts(std::string_view name, std::span<const std::string_view> values);
  OnnxAttributes& numbers(std::string_view name, std::span<const double> values);  // a tensor of doubles

  [[nodiscard]] const std::vector<ProtobufMessage>& list() const { return list_; }

 private:
  std::vector<ProtobufMessage> list_;
};

class OnnxGraph {
 public:
  // columns: 0 for one value per row. Every tensor has a row per row of the input.
  void input(const std::string& name, OnnxType type, std::int64_t columns, std::string_view meaning);
  void output(const std::string& name, OnnxType type, std::string_view meaning);

  void constant(const std::string& name, std::span<const double> values, std::vector<std::int64_t> shape);
  void constant(const std::string& name, std::span<const float> values, std::vector<std::int64_t> shape);
  void constant(const std::string& name, std::int64_t value);

  // domain: empty for the operators that ONNX itself has, else ai.onnx.ml.
  void node(std::string_view op, std::vector<std::string> inputs, const std::string& output,
            const OnnxAttributes& attributes = {}, std::string_view domain = "");

  void remark(std::string_view key, std::string_view value);  // metadata of the model

  // The bytes of the file.
  [[nodiscard]] std::string model(std::string_view description) const;

 private:
  void initializer(const std::string& name, OnnxType type, std::span<const std::int64_t> shape, std::string_view raw);

  ProtobufMessage nodes_, tensors_, inputs_, outputs_, remarks_;
};

}  // namespace noteg::learn
