#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sim/learn/binary_model.hpp"
#include "sim/learn/model_file.hpp"
#include "sim/learn/model_head.hpp"
#include "sim/learn/read_tree.hpp"
#include "sim/support/text.hpp"
#include "sim/support/text_file.hpp"

namespace noteg::learn {
namespace {

using nlohmann::json;

constexpr double largest_log = 700;      // exp(700) is still a number
constexpr double largest_value = 1e300;  // of a target that is no logarithm
constexpr double largest_factor = 1000;  // that an interval is widened by
constexpr std::size_t deepest = 32;      // levels of nesting: whoever walks a document walks it on the stack
constexpr std::size_t largest_document = std::size_t{1} << 29;  // bytes in memory
constexpr long long most_rows = 1LL << 31;
constexpr std::size_t most_gpus = 1 << 20;

// Reads without keeping anything: how deep a document is and what memory it would take, told before it is built.
class Bounds : public nlohmann::json_sax<json> {
 public:
  [[nodiscard]] const std::string& excess() const { return excess_; }
  bool null() override { return add(small); }
  bool boolean(bool) override { return add(small); }
  bool number_integer(number_integer_t) override { return add(small); }
  bool number_unsigned(number_unsigned_t) override { return add(small); }
  bool number_float(number_float_t, const string_t&) override { return add(small); }
  bool string(string_t& text) override { return add(large + text.size()); }
  bool binary(binary_t&) override { return add(large); }
  bool key(string_t& text) override { return add(large + text.size()); }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  // The parser that builds the document finds the same mistake, and tells where it is.
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  // A sequence that grows keeps its old half until the new one, with room for as much again, is filled.
  static constexpr std::size_t small = 3 * sizeof(json), large = 10 * sizeof(json);  // large: with what it points to
  bool add(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > largest_document) excess_ = "values that take at most 512 MiB in memory";
    return excess_.empty();
  }
  bool open() {
    if (++depth_ > deepest) excess_ = "at most " + std::to_string(deepest) + " levels of nesting";
    return add(large);
  }
  bool close() {
    --depth_;
    return true;
  }

  std::size_t bytes_ = 0, depth_ = 0;
  std::string excess_;
};

Feature read_feature(const Checked& at) {
  Feature feature;
  feature.column.name = at.at("name").text(256);
  feature.column.unit = at.at("unit").text(64);
  feature.column.meaning = at.at("meaning").text();
  const std::string group = at.at("group").text(32);
  const std::optional<dataset::Group> known = dataset::group_from(group);
  if (!known) at.at("group").wrong("config, arch, physics, counter or target", "\"" + group + "\"");
  feature.column.group = *known;
  const json* own = at.find("categories");
  if (own == nullptr) {
    feature.low = 1;
    if (at.find("low") == nullptr) return feature;  // blank in every row
    feature.low = at.at("low").number();
    feature.high = at.at("high").number();
    return feature;
  }
  feature.kind = forest::FeatureKind::category;
  for (const Checked& word : at.at("categories").items(0, forest::most_bins)) feature.categories.push_back(word.text());
  return feature;
}

std::vector<Feature> read_features(const Checked& at, std::size_t least) {
  std::vector<Feature> features;
  std::set<std::string> names;
  for (const Checked& item : at.items(least, forest::most_features)) {
    features.push_back(read_feature(item));
    if (!names.insert(features.back().column.name).second) item.wrong("each feature once", features.back().column.name);
  }
  return features;
}

std::array<double, 3> read_factors(const Checked& at) {
  const std::vector<double> numbers = at.numbers(3, 3);
  if (!std::ranges::all_of(numbers, [](double factor) { return factor >= 0 && factor <= largest_factor; }))
    at.wrong("factors from 0 to 1000", "others");
  return {numbers[0], numbers[1], numbers[2]};
}

void read_target(const Checked& at, Part& part) {
  Target target;
  target.name = at.at("name").text(256);
  target.unit = at.at("unit").text(64);
  target.log = at.at("log").claim();
  target.anchor = at.at("anchor").text(256);
  target.smearing = at.at("smearing").number();
  if (at.find("shrink") != nullptr) target.shrink = at.at("shrink").number();
  if (!(target.shrink >= 0 && target.shrink <= 1)) at.at("shrink").wrong("a share from 0 to 1", "another");
  target.widen = read_factors(at.at("widen"));
  if (at.find("widen_new_gpu") != nullptr) target.widen_new_gpu = read_factors(at.at("widen_new_gpu"));
  if (!(target.smearing > 0)) at.at("smearing").wrong("a number above 0", "another");
  forest::Scale scale{at.at("mean").number(), at.at("deviation").number()};
  if (!(scale.deviation > 0)) at.at("deviation").wrong("a number above 0", "another");
  part.targets.push_back(std::move(target));
  part.forest.scales.push_back(scale);
}

void read_edges(const Checked& at, const std::vector<Feature>& features, Part& part) {
  const std::vector<Checked> lists = at.at("edges").items(features.size(), features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    forest::FeatureBins bins;
    bins.kind = features[f].kind;
    bins.categories = features[f].categories.size();
    bins.edges = lists[f].numbers(0, forest::most_bins - 1);
    for (std::size_t i = 1; i < bins.edges.size(); ++i)
      if (!(bins.edges[i - 1] < bins.edges[i])) lists[f].wrong("edges that rise", "others");
    part.forest.features.push_back(std::move(bins));
  }
}

void read_bins(const Checked& at, Part& part) {
  const Checked digits_at = at.at("bins");
  const std::size_t count = part.forest.rows * part.forest.features.size();
  const std::string digits = digits_at.text(largest_model_file);
  if (digits.size() != 2 * count)
    digits_at.wrong(std::to_string(2 * count) + " hexadecimal digits", std::to_string(digits.size()));
  for (std::size_t i = 0; i < count; ++i)
    part.training_bins.push_back(
        static_cast<std::uint8_t>(read_hex(digits_at, std::string_view(digits).substr(2 * i, 2))));
}

// Whatever mean of training rows the model tells, it is a number.
void check_range(const Checked& at, const Part& part) {
  double most = 0;
  for (const float y : part.forest.y) most = std::max(most, std::abs(static_cast<double>(y)));
  for (std::size_t t = 0; t < part.targets.size(); ++t) {
    const Target& target = part.targets[t];
    const forest::Scale& scale = part.forest.scales[t];
    const double reach = std::abs(scale.mean) + scale.deviation * std::max(1.0, most);
    if (target.log ? !(reach + std::abs(std::log(target.smearing)) <= largest_log) : !(reach <= largest_value))
      at.at("targets").wrong(target.log ? "a mean and deviations of logarithms" : "a mean and deviations of numbers",
                             "numbers of " + target.name + " that no double holds");
  }
}

void read_training_rows(const Checked& at, Part& part) {
  const std::size_t values = part.forest.rows * part.targets.size();
  const Checked y_at = at.at("y");
  for (const double y : y_at.numbers(values, values)) {
    if (std::abs(y) > std::numeric_limits<float>::max()) y_at.wrong("numbers of 32 bits", "one beyond their range");
    part.forest.y.push_back(static_cast<float>(y));
  }
  part.forest.weights = at.at("weights").numbers(0, part.forest.rows);
  if (part.forest.weights.empty()) part.forest.weights.assign(part.forest.rows, 1.0);
  check_training_rows(at, part);
}

void read_monotone(const Checked& at, Part& part) {
  for (const Checked& rule : at.at("monotone").items(0, forest::most_features)) {
    const std::vector<int> parts = rule.wholes<int>(3, 3, -1, static_cast<long long>(forest::most_features));
    const bool known = parts[0] >= 0 && parts[0] < static_cast<int>(part.forest.features.size()) && parts[1] >= 0 &&
                       parts[1] < static_cast<int>(part.targets.size()) && (parts[2] == 1 || parts[2] == -1);
    if (!known) rule.wrong("feature, target and 1 or -1", "another rule");
    part.forest.monotone.push_back({static_cast<std::size_t>(parts[0]), static_cast<std::size_t>(parts[1]), parts[2]});
  }
}

// What a JSON file has of rows and trees.
void read_lists(const Checked& at, Part& part) {
  read_training_rows(at, part);
  read_bins(at, part);
  const forest::GrowthData data = leaf_data(part.forest);
  for (const Checked& tree : at.at("trees").items(1, most_trees)) {
    part.forest.trees.push_back(read_tree(tree, part.forest.features, part.forest.rows));
    fill_values(part.forest.trees.back(), data, part.forest.monotone);
  }
}

Part read_part(const Checked& at, const std::vector<Feature>& features, const ReadLists& lists) {
  Part part;
  for (const Checked& target : at.at("targets").items(1, forest::most_targets)) read_target(target, part);
  part.forest.rows = static_cast<std::size_t>(at.at("rows").whole(2, most_rows));
  part.usual_distance = at.at("usual_distance").number();
  part.forest.importance = at.at("importance").numbers(features.size(), features.size());
  read_edges(at, features, part);
  read_monotone(at, part);
  if (at.find("base") != nullptr) {
    if (part.targets.size() != 1) at.at("base").wrong("one target with a base", "several");
    for (const Checked& process : at.at("base").items(1, 8)) part.base.push_back(read_process(process));
  }
  lists(at, part);
  return part;
}

Model model_from(const json& document, const ReadLists& lists) {
  const Checked at(document, "");
  if (const std::string schema = at.at("schema").text(64); schema != "noteg-model")
    at.at("schema").wrong("noteg-model", "\"" + schema + "\"");
  if (const long long version = at.at("version").whole(0, 1 << 30); version != model_version)
    at.at("version").wrong(std::to_string(model_version) + ", the version that this program writes",
                           std::to_string(version));
  Model model;
  const std::string kind = at.at("kind").text(32);
  if (kind != "direct" && kind != "residual") at.at("kind").wrong("direct or residual", "\"" + kind + "\"");
  model.kind = kind == "direct" ? ModelKind::direct : ModelKind::residual;
  const Checked trained_on = at.at("trained_on");
  model.trained_on = {trained_on.at("files").text(),
                      static_cast<std::size_t>(trained_on.at("rows").whole(1, most_rows)),
                      trained_on.at("hash").text(64),
                      {}};
  if (trained_on.find("gpus") != nullptr)
    for (const Checked& name : trained_on.at("gpus").items(0, most_gpus))
      model.trained_on.gpus.push_back(name.text(256));
  (void)at.at("metrics");
  model.metrics = document["metrics"].dump();
  model.features = read_features(at.at("features"), 1);
  if (at.find("constants") != nullptr) model.constants = read_features(at.at("constants"), 0);
  for (const Checked& part : at.at("parts").items(1, forest::most_targets))
    model.parts.push_back(read_part(part, model.features, lists));
  return model;
}

// Where the text stops being JSON. The parser repeats what it read last, which may be megabytes of a string.
Diagnostic not_json(std::string_view text, const std::string& file, const json::parse_error& error) {
  const std::string_view before = text.substr(0, std::min(text.size(), error.byte));
  const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
  const auto column = static_cast<int>(before.size() - (before.rfind('\n') + 1));  // npos + 1 is 0
  const std::string_view what = error.what();
  const std::size_t reason = what.find("syntax error"), repeated = what.find("; last read");
  const std::string_view found = reason < repeated ? what.substr(reason, repeated - reason) : "something else";
  return {file, line, column, "", "a whole model file (JSON)", std::string(found)};
}

}  // namespace

std::optional<Diagnostic> check_bounds(std::string_view text, const std::string& file) {
  if (text.size() > largest_model_file)
    return Diagnostic{
        file, 0, 0, "", "a model file of at most " + std::to_string(largest_model_file >> 20) + " MiB", "a larger one"};
  if (const std::size_t at = first_non_text(text); at != std::string_view::npos) {
    const std::string_view before = text.substr(0, at);
    const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
    const auto column = static_cast<int>(at - (before.rfind('\n') + 1)) + 1;  // npos + 1 is 0
    return Diagnostic{file, line, column, "", "text in UTF-8", describe_byte(text, at)};
  }
  Bounds bounds;
  (void)json::sax_parse(text, &bounds);
  if (bounds.excess().empty()) return std::nullopt;
  return Diagnostic{file, 0, 0, "", "a model file with " + bounds.excess(), "more"};
}

void check_training_rows(const Checked& at, const Part& part) {
  check_range(at, part);
  if (part.forest.weights.size() != part.forest.rows)
    at.at("weights").wrong("none, or one per row", std::to_string(part.forest.weights.size()));
  for (const double weight : part.forest.weights)
    if (!(weight > 0)) at.at("weights").wrong("numbers above 0", "others");
}

Result<Model> parse_head(std::string_view text, const std::string& file, const ReadLists& lists) {
  if (std::optional<Diagnostic> wrong = check_bounds(text, file)) return std::move(*wrong);
  try {
    return model_from(json::parse(text), lists);
  } catch (const WrongModel& error) {
    return Diagnostic{file, 0, 0, error.path, error.expected, error.found};
  } catch (const json::parse_error& error) {
    return not_json(text, file, error);
  } catch (const json::exception& error) {
    return Diagnostic{file, 0, 0, "", "a whole model file (JSON)", error.what()};
  }
}

Result<Model> parse_model(std::string_view text, const std::string& file) {
  if (is_binary_model(text)) {
    const Result<ModelFile> binary = ModelFile::over(std::string(text), file);
    if (!binary) return binary.errors();
    return binary->whole();
  }
  return parse_head(text, file, read_lists);
}

Result<Model> read_model(const std::string& path) {
  const Result<std::optional<ModelFile>> binary = ModelFile::open(path);
  if (!binary) return binary.errors();
  if (*binary) return (*binary)->whole();
  const Result<std::string> text = read_file(path, largest_model_file);
  if (!text) return text.errors();
  return parse_model(*text, path);
}

}  // namespace noteg::learn
