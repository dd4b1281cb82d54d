// A model as JSON: schema version, feature table, fingerprint of the training data, metrics, trees; or the same in
// binary (ModelFile below). Every index and count of a file is checked before it is used: a file may be cut off,
// edited or made to harm.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/learn/model.hpp"
#include "sim/support/result.hpp"

namespace noteg::learn {

inline constexpr int model_version = 1;
inline constexpr std::size_t largest_model_file = std::size_t{1} << 28;  // bytes

[[nodiscard]] std::string to_json(const Model& model);

// Why the text is too much to be read as a model: its size, what it would take in memory, or how deep it is nested.
// nullopt: it is not. What is written is checked too, since it would be of no use otherwise.
[[nodiscard]] std::optional<Diagnostic> check_bounds(std::string_view text, const std::string& file);

// What belongs into a file of that name: binary where it ends in .ngm, else JSON. Error: more than could be read again.
[[nodiscard]] Result<std::string> write_model(const Model& model, const std::string& path);

// Either kind, told by its first bytes.
[[nodiscard]] Result<Model> parse_model(std::string_view text, const std::string& file);
[[nodiscard]] Result<Model> read_model(const std::string& path);

// A model as a binary file (.ngm) of which a question reads only what it needs. Behind sixteen bytes that name the kind
// come the length of the head and of the file, the head as JSON (model_head.hpp), then per part: targets and weights of
// the training rows, their bins, a table of the trees, and each tree as
//   nodes (feature, cut, missing goes left), sets of categories, first row per leaf, rows, values where a rule bends
//   them.
// All numbers are little-endian. A tree is checked when it is read.

inline constexpr std::string_view binary_ending = ".ngm";

[[nodiscard]] std::string to_binary(const Model& model);
[[nodiscard]] bool is_binary_model(std::string_view bytes);

class ModelFile {
 public:
  // nullopt: a file of another kind. Errors: unreadable, cut off, a wrong head.
  [[nodiscard]] static Result<std::optional<ModelFile>> open(const std::string& path);
  [[nodiscard]] static Result<ModelFile> over(std::string bytes, const std::string& name);

  [[nodiscard]] const Model& head() const { return head_; }  // without trees

  // The whole model; or one whose trees are single leaves, those that the row (a value per feature) reaches: it says of
  // this row what the whole model says.
  [[nodiscard]] Result<Model> whole() const;
  [[nodiscard]] Result<Model> reached_by(const Eigen::Ref<const Eigen::RowVectorXd>& x) const;

 private:
  // Fills the span from that place on; false where the file cannot be read.
  using Read = std::function<bool(std::uint64_t at, std::span<char> to)>;
  struct Place {  // of a tree
    std::uint64_t at = 0, rows = 0;
    std::uint32_t nodes = 0, sets = 0;
  };
  class Reader;

  ModelFile(Read read, std::uint64_t size, std::string name)
      : read_(std::move(read)), size_(size), name_(std::move(name)) {}
  [[nodiscard]] static Result<ModelFile> from(Read read, std::uint64_t size, const std::string& name);
  using TreeOf = std::function<forest::Tree(const Reader&, const Part&, const Place&)>;
  [[nodiscard]] Result<Model> with_trees(const TreeOf& tree_of) const;

  Read read_;
  std::uint64_t size_ = 0;
  std::string name_;
  Model head_;
  std::vector<std::vector<Place>> trees_;  // per part
};

}  // namespace noteg::learn
