#include "sim/dataset/row_codec.hpp"

#include <cstring>
#include <stdexcept>

namespace noteg::dataset {
namespace {

template <class T>
void put(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

void put_text(std::string& bytes, const std::string& text) {
  put(bytes, text.size());
  bytes += text;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(get<std::size_t>())); }

 private:
  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) throw std::runtime_error("a damaged row came from another process");
    const std::string_view part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }
  std::string_view bytes_;
};

void put_value(std::string& bytes, const Value& value) {
  put(bytes, static_cast<char>(value.index()));
  std::visit(
      [&bytes](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>)
          put_text(bytes, held);
        else
          put(bytes, held);
      },
      value);
}

Value get_value(Reader& reader) {
  switch (reader.get<char>()) {
    case 0: return reader.get<double>();
    case 1: return reader.get<std::int64_t>();
    case 2: return reader.get<bool>();
    default: return reader.text();
  }
}

}  // namespace

std::string encode(const FinishedRow& row) {
  static_assert(std::is_same_v<Value, std::variant<double, std::int64_t, bool, std::string>>, "order of the kinds");
  std::string bytes;
  put(bytes, row.row);
  put_text(bytes, row.error);
  put(bytes, row.values.size());
  for (const Value& value : row.values) put_value(bytes, value);
  return bytes;
}

FinishedRow decode(std::string_view bytes) {
  Reader reader(bytes);
  FinishedRow row;
  row.row = reader.get<std::size_t>();
  row.error = reader.text();
  const auto count = reader.get<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) row.values.push_back(get_value(reader));
  return row;
}

}  // namespace noteg::dataset
