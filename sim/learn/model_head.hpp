// Values out of a JSON document that nobody has to trust: each is looked up, typed and bounded, and what is wrong is
// told with its path. The first mistake ends the reading: what follows may rest on it.
#pragma once

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/learn/model.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

// Thrown inside the reader of models only, and caught there.
struct WrongModel : std::runtime_error {
  WrongModel(std::string where, std::string wanted, std::string was)
      : std::runtime_error(where), path(std::move(where)), expected(std::move(wanted)), found(std::move(was)) {}
  std::string path, expected, found;
};

class Checked {
 public:
  Checked(const nlohmann::json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[noreturn]] void wrong(std::string expected, std::string found) const {
    throw WrongModel(path_, std::move(expected), std::move(found));
  }

  [[nodiscard]] Checked at(const std::string& key) const {
    if (!json_->is_object()) wrong("an object", json_->type_name());
    const auto found = json_->find(key);
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (found == json_->end()) throw WrongModel(path, "a value", "none");
    return {*found, path};
  }

  [[nodiscard]] const nlohmann::json* find(const std::string& key) const {
    if (!json_->is_object()) wrong("an object", json_->type_name());
    const auto found = json_->find(key);
    return found == json_->end() ? nullptr : &*found;
  }

  [[nodiscard]] std::vector<Checked> items(std::size_t least, std::size_t most) const {
    if (!json_->is_array()) wrong("a list", json_->type_name());
    check_count(json_->size(), least, most);
    std::vector<Checked> out;
    for (std::size_t i = 0; i < json_->size(); ++i)
      out.emplace_back((*json_)[i], path_ + "[" + std::to_string(i) + "]");
    return out;
  }

  [[nodiscard]] double number() const {
    if (!json_->is_number()) wrong("a number", json_->type_name());
    const auto value = json_->get<double>();
    if (!std::isfinite(value)) wrong("a finite number", "another");
    return value;
  }

  [[nodiscard]] long long whole(long long low, long long high) const { return whole_of(*json_, low, high); }

  [[nodiscard]] std::string text(std::size_t most = 1 << 16) const {
    if (!json_->is_string()) wrong("a text", json_->type_name());
    const auto& value = json_->get_ref<const std::string&>();
    if (value.size() > most)
      wrong("a text of at most " + std::to_string(most) + " bytes", std::to_string(value.size()));
    return value;
  }

  [[nodiscard]] bool claim() const {
    if (!json_->is_boolean()) wrong("true or false", json_->type_name());
    return json_->get<bool>();
  }

  // Lists of numbers, without a path for each of them.
  template <class Whole>
  [[nodiscard]] std::vector<Whole> wholes(std::size_t least, std::size_t most, long long low, long long high) const {
    check_list(least, most);
    std::vector<Whole> out;
    for (const nlohmann::json& item : *json_) out.push_back(static_cast<Whole>(whole_of(item, low, high)));
    return out;
  }

  [[nodiscard]] std::vector<double> numbers(std::size_t least, std::size_t most) const {
    check_list(least, most);
    std::vector<double> out;
    for (const nlohmann::json& item : *json_) {
      if (!item.is_number() || !std::isfinite(item.get<double>())) wrong("finite numbers", item.type_name());
      out.push_back(item.get<double>());
    }
    return out;
  }

 private:
  void check_count(std::size_t count, std::size_t least, std::size_t most) const {
    if (count >= least && count <= most) return;
    const std::string range =
        least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
    wrong(range + " values", std::to_string(count));
  }
  void check_list(std::size_t least, std::size_t most) const {
    if (!json_->is_array()) wrong("a list", json_->type_name());
    check_count(json_->size(), least, most);
  }
  [[nodiscard]] long long whole_of(const nlohmann::json& item, long long low, long long high) const {
    const bool small =
        item.is_number_integer() && (!item.is_number_unsigned() || item.get<std::uint64_t>() < (1ULL << 62));
    if (!small || item.get<long long>() < low || item.get<long long>() > high)
      wrong("an integer from " + std::to_string(low) + " to " + std::to_string(high),
            item.is_number() ? item.dump().substr(0, 40) : item.type_name());
    return item.get<long long>();
  }

  const nlohmann::json* json_;
  std::string path_;
};

// What JSON and binary model files share: everything but the lists that are as long as rows or nodes. For the readers
// and writers of models only.

inline constexpr std::size_t most_trees = 10000;
inline constexpr std::size_t most_nodes = std::size_t{1} << 28;  // of a tree

// Fills y, weights, bins and trees of a part whose head was read; throws WrongModel.
using ReadLists = std::function<void(const Checked& at, Part& part)>;

[[nodiscard]] Result<Model> parse_head(std::string_view text, const std::string& file, const ReadLists& lists);

// Whatever mean of the training rows the model tells is a number, and every row weighs something. Throws WrongModel.
void check_training_rows(const Checked& at, const Part& part);

// The document with the members that `lists` has for each part.
[[nodiscard]] std::string head_text(const Model& model, const std::function<std::string(const Part&)>& lists);

// One tree out of a model file, checked: breadth-first order that reaches every node, features, cuts and sets that
// exist, leaves that hold training rows.

// Without the values of leaves. features: their bins. Throws WrongModel.
[[nodiscard]] forest::Tree read_tree(const Checked& json, const std::vector<forest::FeatureBins>& features,
                                     std::size_t rows);

[[nodiscard]] std::uint64_t read_hex(const Checked& at, std::string_view digits);

}  // namespace noteg::learn
