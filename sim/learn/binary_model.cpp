#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "sim/learn/model_file.hpp"
#include "sim/learn/model_head.hpp"

namespace noteg::learn {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

// A copy that turned line ends, or stopped at an end of text, does not begin like this any more.
constexpr std::string_view kind("NoteG model 1\r\n\x1a", 16);
constexpr std::uint64_t largest_binary = std::uint64_t{1} << 30;

struct Lengths {
  std::uint64_t head = 0, file = 0;
};
constexpr std::uint64_t before_head = kind.size() + sizeof(Lengths);

// A node of a file: no_feature is a leaf; the k-th cut of a category has the k-th set.
struct FileNode {
  std::uint16_t feature = forest::no_feature;
  std::uint8_t bin = 0, missing_left = 0;
};
struct FilePlace {
  std::uint64_t at = 0, rows = 0;
  std::uint32_t nodes = 0, sets = 0;
};
static_assert(sizeof(FileNode) == 4 && sizeof(FilePlace) == 24);

template <class List>
void append(std::string& bytes, const List& list) {
  bytes.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0]));
}

FilePlace append_tree(const forest::Tree& tree, bool with_values, std::string& bytes) {
  std::vector<FileNode> nodes;
  std::vector<forest::CategorySet> sets;
  for (const forest::TreeNode& node : tree.nodes) {
    nodes.push_back({node.feature, node.bin, static_cast<std::uint8_t>(node.missing_left ? 1 : 0)});
    if (!node.is_leaf() && node.set >= 0) sets.push_back(tree.sets[static_cast<std::size_t>(node.set)]);
  }
  const FilePlace place{bytes.size(), tree.rows.size(), static_cast<std::uint32_t>(nodes.size()),
                        static_cast<std::uint32_t>(sets.size())};
  append(bytes, nodes);
  append(bytes, sets);
  append(bytes, tree.leaf_begin);
  append(bytes, tree.rows);
  if (with_values) append(bytes, tree.values);
  return place;
}

std::string append_part(const Part& part, std::string& bytes) {
  const bool even = std::ranges::all_of(part.forest.weights, [](double w) { return w == 1; });
  const std::string head = fmt::format("\"data\":{{\"at\":{},\"trees\":{},\"even\":{}}}", bytes.size(),
                                       part.forest.trees.size(), even ? "true" : "false");
  append(bytes, part.forest.y);
  if (!even) append(bytes, part.forest.weights);
  append(bytes, part.training_bins);
  std::vector<FilePlace> places(part.forest.trees.size());
  const std::size_t table = bytes.size();
  append(bytes, places);
  for (std::size_t t = 0; t < places.size(); ++t)
    places[t] = append_tree(part.forest.trees[t], !part.forest.monotone.empty(), bytes);
  std::memcpy(bytes.data() + table, places.data(), places.size() * sizeof(FilePlace));
  return head;
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // nullopt: nothing that can be read from any place.
  [[nodiscard]] std::optional<std::uint64_t> size() const {
    struct stat facts {};
    if (number_ < 0 || ::fstat(number_, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    return static_cast<std::uint64_t>(facts.st_size);
  }

  [[nodiscard]] bool read(std::uint64_t at, std::span<char> to) const {
    while (!to.empty()) {
      const ssize_t got = ::pread(number_, to.data(), to.size(), static_cast<off_t>(at));
      if (got <= 0) return false;
      at += static_cast<std::uint64_t>(got);
      to = to.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }

 private:
  int number_;
};

}  // namespace

// Lists of a file at their places. Whatever lies outside, or is no list of that kind, throws WrongModel.
class ModelFile::Reader {
 public:
  Reader(const ModelFile& file, std::string path) : file_(file), path_(std::move(path)) {}

  template <class T>
  [[nodiscard]] std::vector<T> list(std::uint64_t at, std::uint64_t count) const {
    if (at > file_.size_ || count > (file_.size_ - at) / sizeof(T))
      wrong("lists inside the file", "one beyond its end");
    std::vector<T> out(count);
    if (count > 0 && !file_.read_(at, {reinterpret_cast<char*>(out.data()), count * sizeof(T)}))
      wrong("a file that can be read", "the end of it");
    return out;
  }

  [[nodiscard]] forest::Tree whole_tree(const Part& part, const Place& place) const {
    forest::Tree tree = nodes(part, place);
    const std::uint64_t leaves = place.nodes / 2 + 1;
    tree.leaf_begin = list<std::uint32_t>(leaf_at(place), leaves + 1);
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
      check_leaf(tree.leaf_begin[leaf], tree.leaf_begin[leaf + 1], place);
    if (tree.leaf_begin.front() != 0 || tree.leaf_begin.back() != place.rows)
      wrong("leaves that hold all rows", "others");
    tree.rows = rows(part, place, 0, place.rows);
    if (part.forest.monotone.empty()) return tree;
    tree.values = values(part, place, 0, leaves);
    return tree;
  }

  // The leaf that the bins reach, as a tree of its own.
  [[nodiscard]] forest::Tree leaf(const Part& part, const Place& place, const std::vector<std::uint8_t>& bins) const {
    const forest::Tree tree = nodes(part, place);
    std::size_t at = 0;
    const std::vector<std::uint32_t> children = first_children(tree);
    while (!tree.nodes[at].is_leaf())
      at = children[at] + (goes_left(tree.nodes[at], tree.sets, bins[tree.nodes[at].feature]) ? 0 : 1);
    const auto number = static_cast<std::uint64_t>(
        std::ranges::count_if(tree.nodes.begin(), tree.nodes.begin() + static_cast<std::ptrdiff_t>(at),
                              [](const forest::TreeNode& node) { return node.is_leaf(); }));
    const auto ends = list<std::uint32_t>(leaf_at(place) + number * sizeof(std::uint32_t), 2);
    check_leaf(ends[0], ends[1], place);
    forest::Tree cut;
    cut.nodes.resize(1);
    cut.leaf_begin = {0, ends[1] - ends[0]};
    cut.rows = rows(part, place, ends[0], ends[1]);
    if (!part.forest.monotone.empty()) cut.values = values(part, place, number, 1);
    return cut;
  }

 private:
  [[noreturn]] void wrong(std::string expected, std::string found) const {
    throw WrongModel(path_, std::move(expected), std::move(found));
  }

  static std::uint64_t leaf_at(const Place& place) {
    return place.at + place.nodes * sizeof(FileNode) + place.sets * sizeof(forest::CategorySet);
  }
  static std::uint64_t rows_at(const Place& place) {
    return leaf_at(place) + (place.nodes / 2 + 2) * sizeof(std::uint32_t);
  }

  void check_leaf(std::uint32_t begin, std::uint32_t end, const Place& place) const {
    if (begin >= end || end > place.rows) wrong("a row in every leaf, and rows that the tree has", "others");
  }

  [[nodiscard]] std::vector<std::uint32_t> rows(const Part& part, const Place& place, std::uint64_t begin,
                                                std::uint64_t end) const {
    auto out = list<std::uint32_t>(rows_at(place) + begin * sizeof(std::uint32_t), end - begin);
    if (std::ranges::any_of(out, [&](std::uint32_t row) { return row >= part.forest.rows; }))
      wrong("rows of the training data", "one beyond them");
    return out;
  }

  [[nodiscard]] std::vector<float> values(const Part& part, const Place& place, std::uint64_t leaf,
                                          std::uint64_t count) const {
    const std::uint64_t each = part.targets.size() * sizeof(float);
    auto out =
        list<float>(rows_at(place) + place.rows * sizeof(std::uint32_t) + leaf * each, count * part.targets.size());
    double most = 0;
    for (const float y : part.forest.y) most = std::max(most, std::abs(static_cast<double>(y)));
    if (!std::ranges::all_of(out, [&](float v) { return std::abs(static_cast<double>(v)) <= most; }))
      wrong("values between those of the training rows", "others");
    return out;
  }

  [[nodiscard]] forest::Tree nodes(const Part& part, const Place& place) const {
    forest::Tree tree;
    const auto from = list<FileNode>(place.at, place.nodes);
    tree.sets = list<forest::CategorySet>(place.at + place.nodes * sizeof(FileNode), place.sets);
    std::size_t splits = 0;
    std::int32_t sets = 0;
    tree.nodes.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (i > 2 * splits) wrong("nodes that a cut above them reaches", "one too many");
      forest::TreeNode& node = tree.nodes.emplace_back();
      if (from[i].feature == forest::no_feature) continue;
      if (from[i].feature >= part.forest.features.size()) wrong("features that the model has", "another one");
      const forest::FeatureBins& feature = part.forest.features[from[i].feature];
      const bool category = feature.kind == forest::FeatureKind::category;
      if (!category && from[i].bin >= std::max<std::size_t>(1, feature.count()))
        wrong("bins of their features", "others");
      node = {from[i].feature, category ? std::uint8_t{0} : from[i].bin, from[i].missing_left != 0,
              category ? sets++ : -1};
      ++splits;
    }
    if (from.size() != 2 * splits + 1 || static_cast<std::size_t>(sets) != tree.sets.size())
      wrong("a tree whose nodes and sets fit each other", "another number of them");
    return tree;
  }

  const ModelFile& file_;
  std::string path_;
};

std::string to_binary(const Model& model) {
  std::string data;
  const std::string head = head_text(model, [&](const Part& part) { return append_part(part, data); });
  const Lengths lengths{head.size(), before_head + head.size() + data.size()};
  std::string bytes(kind);
  bytes.append(reinterpret_cast<const char*>(&lengths), sizeof(lengths));
  return bytes + head + data;
}

bool is_binary_model(std::string_view bytes) { return bytes.starts_with(kind); }

Result<ModelFile> ModelFile::from(Read read, std::uint64_t size, const std::string& name) {
  const auto refuse = [&](std::string expected, std::string found) {
    return Diagnostic{name, 0, 0, "", std::move(expected), std::move(found)};
  };
  Lengths lengths;
  if (size < before_head || !read(kind.size(), {reinterpret_cast<char*>(&lengths), sizeof(lengths)}))
    return refuse("a whole binary model", "its first bytes alone");
  if (size > largest_binary) return refuse("a binary model of at most 1 GiB", "a larger one");
  if (lengths.file != size)
    return refuse(fmt::format("a whole binary model of {} bytes", lengths.file), fmt::format("{} bytes", size));
  if (lengths.head > size - before_head) return refuse("a head inside the file", "a longer one");
  ModelFile file(std::move(read), size, name);
  std::string head(lengths.head, '\0');
  if (!file.read_(before_head, head)) return refuse("a file that can be read", "the end of it");
  const std::uint64_t base = before_head + lengths.head;
  Result<Model> model = parse_head(head, name, [&](const Checked& at, Part& part) {
    const Checked data = at.at("data");
    const Reader reader(file, data.path());
    std::uint64_t next = base + static_cast<std::uint64_t>(data.at("at").whole(0, static_cast<long long>(size)));
    const auto take = [&]<class T>(std::vector<T>& list, std::uint64_t count) {
      list = reader.list<T>(next, count);
      next += count * sizeof(T);
    };
    forest::Forest& forest = part.forest;
    take(forest.y, forest.rows * part.targets.size());
    if (data.at("even").claim())
      forest.weights.assign(forest.rows, 1.0);
    else
      take(forest.weights, forest.rows);
    take(part.training_bins, forest.rows * forest.features.size());
    std::vector<FilePlace> places;
    take(places, static_cast<std::uint64_t>(data.at("trees").whole(1, most_trees)));
    if (!std::ranges::all_of(forest.y, [](float y) { return std::isfinite(y); }))
      data.wrong("finite targets", "others");
    if (!std::ranges::all_of(forest.weights, [](double w) { return std::isfinite(w); }))
      data.wrong("finite weights", "others");
    check_training_rows(at, part);
    std::vector<Place>& own = file.trees_.emplace_back();
    for (const FilePlace& place : places) {
      if (place.at > size || place.rows > forest.rows || place.nodes == 0 || place.sets > place.nodes)
        data.wrong("trees inside the file", "one beyond it");
      own.push_back({base + place.at, place.rows, place.nodes, place.sets});
    }
  });
  if (!model) return model.errors();
  file.head_ = std::move(*model);
  return file;
}

Result<ModelFile> ModelFile::over(std::string bytes, const std::string& name) {
  const std::uint64_t size = bytes.size();
  auto kept = std::make_shared<const std::string>(std::move(bytes));
  return from(
      [kept](std::uint64_t at, std::span<char> to) {
        if (at > kept->size() || to.size() > kept->size() - at) return false;
        std::memcpy(to.data(), kept->data() + at, to.size());
        return true;
      },
      size, name);
}

Result<std::optional<ModelFile>> ModelFile::open(const std::string& path) {
  const auto file = std::make_shared<const OpenFile>(path);
  const std::optional<std::uint64_t> size = file->size();
  std::string first(kind.size(), '\0');
  if (!size || *size < first.size() || !file->read(0, first) || !is_binary_model(first))
    return std::optional<ModelFile>{};
  Result<ModelFile> made =
      from([file](std::uint64_t at, std::span<char> to) { return file->read(at, to); }, *size, path);
  if (!made) return made.errors();
  return std::optional<ModelFile>(std::move(*made));
}

Result<Model> ModelFile::with_trees(const TreeOf& tree_of) const {
  Model model = head_;
  try {
    for (std::size_t p = 0; p < model.parts.size(); ++p) {
      Part& part = model.parts[p];
      const Reader reader(*this, fmt::format("parts[{}].trees", p));
      const forest::GrowthData data = leaf_data(part.forest);
      for (const Place& place : trees_[p]) {
        part.forest.trees.push_back(tree_of(reader, part, place));
        if (part.forest.monotone.empty()) fill_values(part.forest.trees.back(), data, {});
      }
    }
  } catch (const WrongModel& error) {
    return Diagnostic{name_, 0, 0, error.path, error.expected, error.found};
  }
  return model;
}

Result<Model> ModelFile::whole() const {
  return with_trees(
      [](const Reader& reader, const Part& part, const Place& place) { return reader.whole_tree(part, place); });
}

Result<Model> ModelFile::reached_by(const Eigen::Ref<const Eigen::RowVectorXd>& x) const {
  std::vector<std::uint8_t> bins(head_.features.size());
  const Part* binned = nullptr;
  return with_trees([&](const Reader& reader, const Part& part, const Place& place) {
    if (std::exchange(binned, &part) != &part)
      for (std::size_t f = 0; f < bins.size(); ++f)
        bins[f] = part.forest.features[f].bin_of(x[static_cast<Eigen::Index>(f)]);
    return reader.leaf(part, place, bins);
  });
}

}  // namespace noteg::learn
