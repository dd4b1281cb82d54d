#include "sim/serve/service.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace noteg::serve {
namespace {

constexpr std::size_t block = std::size_t{1} << 16;

// Lines of a file descriptor, each at most `longest` bytes; nullopt: a longer one, skipped.
class LineReader {
 public:
  LineReader(int in, std::size_t longest) : in_(in), longest_(longest) {}

  // false: the input has ended, or cannot be read.
  bool next(std::optional<std::string>& line) {
    while (true) {
      const std::size_t end = buffer_.find('\n', scanned_);
      if (end != std::string::npos) {
        take(end, line);
        buffer_.erase(0, end + 1);
        scanned_ = 0;
        return true;
      }
      scanned_ = buffer_.size();
      if (buffer_.size() > longest_) {
        skipping_ = true;
        buffer_.clear();
        scanned_ = 0;
      }
      if (!fill()) {
        if (buffer_.empty() && !skipping_) return false;
        take(buffer_.size(), line);
        buffer_.clear();
        scanned_ = 0;
        return true;
      }
    }
  }

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void take(std::size_t end, std::optional<std::string>& line) {
    if (skipping_ || end > longest_)
      line = std::nullopt;
    else
      line = buffer_.substr(0, end);
    skipping_ = false;
  }

  bool fill() {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + block);
    ssize_t got = 0;
    do {
      got = ::read(in_, buffer_.data() + before, block);
    } while (got < 0 && errno == EINTR);
    failed_ = got < 0;
    buffer_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    return got > 0;
  }

  int in_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t scanned_ = 0;  // of the buffer, without a newline
  bool skipping_ = false, failed_ = false;
};

struct Job {
  std::optional<std::string> line;
  std::string answer;
  bool answered = false;
};

// Jobs in the order of their lines: taken from the front by workers, written from the front by whoever finds answers
// there.
class Queue {
 public:
  Queue(const LineServerOptions& options, const std::function<std::string(std::string_view)>& answer)
      : options_(options), answer_(answer), most_(std::size_t{64} * std::max(1U, options.jobs)) {}

  // Waits while too many are under way. false: nobody reads the answers.
  bool put(std::optional<std::string> line) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return jobs_.size() < most_ || gone_; });
    if (gone_) return false;
    jobs_.push_back(std::make_shared<Job>(Job{std::move(line), "", false}));
    waiting_.push_back(jobs_.back());
    work_.notify_one();
    return true;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    work_.notify_all();
  }

  void work() {
    while (const std::shared_ptr<Job> job = take()) {
      std::string text = job->line ? answer_(*job->line) : options_.too_long;
      text += '\n';
      finish(*job, std::move(text));
    }
  }

  [[nodiscard]] bool gone() const { return gone_; }

 private:
  std::shared_ptr<Job> take() {
    std::unique_lock lock(mutex_);
    work_.wait(lock, [&] { return !waiting_.empty() || ended_ || gone_; });
    if (waiting_.empty() || gone_) return nullptr;
    std::shared_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    return job;
  }

  // One thread writes at a time; the others go on working and leave their answers to it.
  void finish(Job& job, std::string text) {
    std::unique_lock lock(mutex_);
    job.answer = std::move(text);
    job.answered = true;
    if (writing_) return;
    writing_ = true;
    while (!jobs_.empty() && jobs_.front()->answered && !gone_) {
      std::string all;
      while (!jobs_.empty() && jobs_.front()->answered && all.size() < block) {
        all += jobs_.front()->answer;
        jobs_.pop_front();
      }
      room_.notify_all();
      lock.unlock();
      const bool written = write_all(all);
      lock.lock();
      if (written) continue;
      gone_ = true;
      room_.notify_all();
      work_.notify_all();
    }
    writing_ = false;
  }

  [[nodiscard]] bool write_all(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t put = ::write(options_.out, text.data(), text.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }

  const LineServerOptions& options_;
  const std::function<std::string(std::string_view)>& answer_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable room_, work_;
  std::deque<std::shared_ptr<Job>> jobs_;     // not yet written
  std::deque<std::shared_ptr<Job>> waiting_;  // not yet taken
  bool ended_ = false, writing_ = false;
  std::atomic<bool> gone_ = false;
};

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

}  // namespace

Ended serve_lines(const LineServerOptions& options, const std::function<std::string(std::string_view)>& answer) {
  Queue queue(options, answer);
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(1U, options.jobs); ++i) workers.emplace_back([&queue] { queue.work(); });
  LineReader reader(options.in, options.longest);
  std::optional<std::string> line;
  while (reader.next(line))
    if (!(line && is_blank(*line)) && !queue.put(std::move(line))) break;
  queue.end();
  workers.clear();
  if (queue.gone()) return Ended::nobody_reads;
  return reader.failed() ? Ended::read_failed : Ended::input_ended;
}

}  // namespace noteg::serve
