// A small ONNX graph (IR 8, ai.onnx 17, ai.onnx.ml 3) put together node by node. Field numbers are those of
// onnx.proto (onnx/onnx, Apache-2.0).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/learn/protobuf.hpp"

namespace noteg::learn {

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
