#include "sim/learn/onnx_graph.hpp"

namespace noteg::learn {
namespace {

constexpr int ir_version = 8, opset = 17, ml_opset = 3;

// AttributeProto.AttributeType
constexpr int type_int = 2, type_string = 3, type_tensor = 4, type_ints = 7, type_strings = 8;

ProtobufMessage attribute(std::string_view name, int type) {
  ProtobufMessage message;
  message.text(1, name).whole(20, type);
  return message;
}

ProtobufMessage tensor(OnnxType type, std::span<const std::int64_t> shape, std::string_view raw) {
  ProtobufMessage message;
  return message.wholes(1, shape).whole(2, static_cast<int>(type)).text(9, raw);
}

template <class Number>
std::string_view raw_of(std::span<const Number> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

ProtobufMessage value_info(const std::string& name, OnnxType type, std::int64_t columns, std::string_view meaning) {
  ProtobufMessage shape, rows, tensor_type, whole_type, info;
  shape.message(1, rows.text(2, "rows"));
  if (columns > 0) {
    ProtobufMessage across;
    shape.message(1, across.whole(1, columns));
  }
  tensor_type.whole(1, static_cast<int>(type)).message(2, shape);
  return info.text(1, name).message(2, whole_type.message(1, tensor_type)).text(3, meaning);
}

ProtobufMessage opset_import(std::string_view domain, int version) {
  ProtobufMessage message;
  return message.text(1, domain).whole(2, version);
}

}  // namespace

OnnxAttributes& OnnxAttributes::whole(std::string_view name, std::int64_t value) {
  list_.push_back(attribute(name, type_int).whole(3, value));
  return *this;
}

OnnxAttributes& OnnxAttributes::text(std::string_view name, std::string_view value) {
  list_.push_back(attribute(name, type_string).text(4, value));
  return *this;
}

OnnxAttributes& OnnxAttributes::wholes(std::string_view name, std::span<const std::int64_t> values) {
  list_.push_back(attribute(name, type_ints).wholes(8, values));
  return *this;
}

OnnxAttributes& OnnxAttributes::texts(std::string_view name, std::span<const std::string_view> values) {
  ProtobufMessage message = attribute(name, type_strings);
  for (const std::string_view value : values) message.text(9, value);
  list_.push_back(std::move(message));
  return *this;
}

OnnxAttributes& OnnxAttributes::numbers(std::string_view name, std::span<const double> values) {
  const std::int64_t count = static_cast<std::int64_t>(values.size());
  list_.push_back(attribute(name, type_tensor).message(5, tensor(OnnxType::f64, std::span(&count, 1), raw_of(values))));
  return *this;
}

void OnnxGraph::input(const std::string& name, OnnxType type, std::int64_t columns, std::string_view meaning) {
  inputs_.message(11, value_info(name, type, columns, meaning));
}

void OnnxGraph::output(const std::string& name, OnnxType type, std::string_view meaning) {
  outputs_.message(12, value_info(name, type, 0, meaning));
}

void OnnxGraph::initializer(const std::string& name, OnnxType type, std::span<const std::int64_t> shape,
                            std::string_view raw) {
  tensors_.message(5, tensor(type, shape, raw).text(8, name));
}

void OnnxGraph::constant(const std::string& name, std::span<const double> values, std::vector<std::int64_t> shape) {
  initializer(name, OnnxType::f64, shape, raw_of(values));
}

void OnnxGraph::constant(const std::string& name, std::span<const float> values, std::vector<std::int64_t> shape) {
  initializer(name, OnnxType::f32, shape, raw_of(values));
}

void OnnxGraph::constant(const std::string& name, std::int64_t value) {
  initializer(name, OnnxType::i64, {}, raw_of(std::span<const std::int64_t>(&value, 1)));
}

void OnnxGraph::node(std::string_view op, std::vector<std::string> inputs, const std::string& output,
                     const OnnxAttributes& attributes, std::string_view domain) {
  ProtobufMessage message;
  for (const std::string& input : inputs) message.text(1, input);
  message.text(2, output).text(3, output).text(4, op);
  for (const ProtobufMessage& one : attributes.list()) message.message(5, one);
  if (!domain.empty()) message.text(7, domain);
  nodes_.message(1, message);
}

void OnnxGraph::remark(std::string_view key, std::string_view value) {
  ProtobufMessage entry;
  remarks_.message(14, entry.text(1, key).text(2, value));
}

std::string OnnxGraph::model(std::string_view description) const {
  ProtobufMessage name, file;
  const std::string graph =
      nodes_.bytes() + name.text(2, "noteg").bytes() + tensors_.bytes() + inputs_.bytes() + outputs_.bytes();
  file.whole(1, ir_version).text(2, "noteg").text(6, description).text(7, graph);
  file.message(8, opset_import("", opset)).message(8, opset_import("ai.onnx.ml", ml_opset));
  return file.bytes() + remarks_.bytes();
}

}  // namespace noteg::learn
