#include "sim/support/csv.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <system_error>

#include "sim/support/text.hpp"

namespace noteg {
namespace {

constexpr std::size_t most_errors = 20;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// Would a spreadsheet run it, apostrophes in front of it aside? Numbers begin with a sign too.
bool is_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\''), text.size()));
  if (text.size() < 2 || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
  const std::string_view rest = text.substr(1);
  const bool is_signed = text.front() == '+' || text.front() == '-';
  return !is_signed || !(parse_number(rest) || rest == "nan" || rest == "inf" || rest == "infinity");
}

// Reads one record at a time; line counts follow quoted newlines too.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file, Diagnostics& errors)
      : text_(text), file_(file), errors_(errors) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] int record_line() const { return record_line_; }

  // Fields beyond `most` are counted, not kept.
  struct Record {
    std::vector<std::string> fields;
    std::size_t count = 0;
  };
  void read(Record& record, std::size_t most) {
    record_line_ = line_;
    record.fields.clear();
    record.count = 0;
    do {
      column_ = static_cast<int>(++record.count);
      std::string text = field();
      if (record.count > most) continue;
      if (const std::size_t at = first_non_text(text); at != std::string::npos)
        error(line_, "text in UTF-8", describe_byte(text, at));
      if (text.starts_with('\'') && is_formula(text)) text.erase(0, 1);
      record.fields.push_back(std::move(text));
    } while (take(','));
    if (!take('\n') && !at_end()) at_ += 2;  // a field ends at a comma, LF, CRLF or the end
    ++line_;
  }

 private:
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] bool ends_field() const {
    return at_end() || text_[at_] == ',' || text_[at_] == '\n' || text_.substr(at_).starts_with("\r\n");
  }

  std::string field() {
    if (take('"')) return quoted();
    const std::size_t begin = at_;
    while (!ends_field()) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    const int begin = line_;
    std::string field;
    while (true) {
      if (at_end()) {
        error(begin, "a closing quote", "the end of the file");
        return field;
      }
      const char c = text_[at_++];
      if (c == '"' && !take('"')) break;
      if (c == '\n') ++line_;
      field += c;
    }
    if (!ends_field()) {
      error(line_, "a comma or the end of the line after a closing quote", std::string("\"") + text_[at_] + "\"");
      while (!ends_field()) ++at_;
    }
    return field;
  }

  void error(int line, std::string expected, std::string found) {
    if (errors_.size() < most_errors)
      errors_.push_back({file_, line, column_, "", std::move(expected), std::move(found)});
  }

  std::string_view text_;
  const std::string& file_;
  Diagnostics& errors_;
  std::size_t at_ = 0;
  int line_ = 1, record_line_ = 1;
  int column_ = 1;  // the field at hand
};

void check_header(const CsvTable& table, std::size_t count, Diagnostics& errors) {
  std::set<std::string_view> seen;
  int place = 0;
  for (const std::string& column : table.columns) {
    ++place;
    if (errors.size() >= most_errors) return;
    if (column.empty())
      errors.push_back({table.file, 1, place, "", "a name for every column", "a blank one"});
    else if (!seen.insert(column).second)
      errors.push_back({table.file, 1, place, column, "each column once", "it twice"});
  }
  if (count > most_csv_columns)
    errors.push_back(
        {table.file, 1, 0, "", fmt::format("at most {} columns", most_csv_columns), std::to_string(count)});
}

Diagnostic binary(const std::string& file) { return {file, 0, 0, "", "text with commas", "a zero byte"}; }

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

Result<CsvTable> parse_csv(std::string_view text, std::string name) {
  CsvTable table;
  table.file = std::move(name);
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (text.find('\0') != std::string_view::npos) return binary(table.file);
  Diagnostics errors;
  Reader reader(text, table.file, errors);
  if (reader.at_end())
    return Diagnostic{table.file, 0, 0, "", "a header line with the names of columns", "an empty file"};
  Reader::Record record;
  reader.read(record, most_csv_columns);
  table.columns = record.fields;
  table.rows = TextRows(table.columns.size());
  check_header(table, record.count, errors);
  while (!reader.at_end() && errors.size() < most_errors) {
    reader.read(record, table.columns.size());
    if (record.count == 1 && record.fields.front().empty()) continue;
    if (record.count != table.columns.size()) {
      const auto last = static_cast<int>(std::min(record.count, table.columns.size() + 1));  // the first one too many
      errors.push_back({table.file, reader.record_line(), last, "",
                        std::to_string(table.columns.size()) + " fields, as in the header",
                        std::to_string(record.count)});
      continue;
    }
    if (!std::ranges::all_of(record.fields, [&](const std::string& field) { return table.rows.add(field); }))
      return Diagnostic{table.file, reader.record_line(), 0, "", fmt::format("at most {} fields", TextRows::most_texts),
                        "more"};
    table.lines.push_back(reader.record_line());
  }
  if (!errors.empty()) return errors;
  return table;
}

Result<CsvTable> read_csv(const std::filesystem::path& path) {
  const std::string name = path.string();
  const auto wrong = [&](std::string expected, std::string found) {
    return Diagnostic{name, 0, 0, "", std::move(expected), std::move(found)};
  };
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return wrong("a file", "none");
  if (std::filesystem::is_directory(path, failed)) return wrong("a file", "a directory");
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(name.c_str(), "rb"));  // reads plain files as they are
  if (!file) return wrong("a file that can be read", "one that cannot be opened");
  std::string text;
  std::string block(std::size_t{1} << 18, '\0');
  while (true) {
    const int got = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
    if (got < 0) return wrong("a readable file, plain or gzip", "a read error or a damaged gzip stream");
    if (got == 0) break;
    const std::string_view piece = std::string_view(block).substr(0, static_cast<std::size_t>(got));
    if (piece.find('\0') != std::string_view::npos) return binary(name);  // told before a device of zeros is read
    text += piece;
    if (text.size() > largest_csv) return wrong(fmt::format("at most {} MiB", largest_csv >> 20), "more");
  }
  int status = Z_OK;
  gzerror(file.get(), &status);  // a truncated stream ends like a whole one, but leaves a status
  if (status != Z_OK && status != Z_STREAM_END) return wrong("a whole gzip stream", "a truncated one");
  return parse_csv(text, name);
}

std::string csv_field(std::string_view text) {
  std::string field = is_formula(text) ? "'" : "";
  field += first_non_text(text) == std::string_view::npos ? std::string(text) : printable(text);
  if (field.find_first_of(",\"\n\r") == std::string::npos && !field.starts_with(byte_order_mark)) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? "," : "") + csv_field(fields[i]);
  return line + "\n";
}

}  // namespace noteg
