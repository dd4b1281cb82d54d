// By Boost.MPI where it is there: only point-to-point messages after the start, so a rank that waits costs the others
// nothing. Built without MPI there is one rank.
#include "sim/dataset/generate.hpp"

#include <cstdlib>
#include <stdexcept>

#if NOTEG_WITH_MPI

#include <boost/mpi.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>

#include "sim/dataset/items.hpp"
#include "sim/dataset/run_rows.hpp"

namespace noteg::dataset {
namespace {

namespace mpi = boost::mpi;

enum Tag { ask, rows, trouble, unit, no_more };  // the first three to the writer, the others from it
constexpr int writer_rank = 0;
constexpr std::size_t most_at_hand = 256;  // rows that the writer collects before it writes

// MPI is started only where a launcher says that there are several processes: it takes its time, and changes signals.
bool is_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1) return true;
  }
  return std::getenv("PMIX_RANK") != nullptr && std::getenv("SLURM_NTASKS") != nullptr &&
         std::atoi(std::getenv("SLURM_NTASKS")) > 1;
}

// The writer's side of the conversation.
class Desk {
 public:
  Desk(const mpi::communicator& world, const std::vector<Unit>& units, Writer& writer)
      : world_(world), dispatcher_(units), writer_(writer), working_(world.size() - 1) {}

  void serve() {
    while (working_ > 0) {
      while (at_hand_.size() < most_at_hand) {
        const boost::optional<mpi::status> message = world_.iprobe();
        if (!message) break;
        answer(*message);
      }
      write();
      // Looking without a pause would take a core from the ranks that work on the same machine.
      if (!world_.iprobe()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    write();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void answer(const mpi::status& message) {
    switch (message.tag()) {
      case ask: return hand_out(message.source());
      case rows: {
        std::vector<std::string> all;
        world_.recv(message.source(), rows, all);
        for (const std::string& bytes : all) at_hand_.push_back(decode(bytes));
        return;
      }
      default: {
        std::string why;
        world_.recv(message.source(), trouble, why);
        if (!error_) error_ = std::make_exception_ptr(std::runtime_error(why));
      }
    }
  }

  void hand_out(int rank) {
    world_.recv(rank, ask);
    const Unit* next = error_ || writer_.stopped() ? nullptr : dispatcher_.next(rank);
    if (next != nullptr) return world_.send(rank, unit, next->rows);
    world_.send(rank, no_more);
    --working_;
  }

  void write() {
    try {
      if (!error_) writer_.write(at_hand_);
    } catch (...) {
      error_ = std::current_exception();  // the others end with the unit that they are at
    }
    at_hand_.clear();
  }

  const mpi::communicator& world_;
  Dispatcher dispatcher_;
  Writer& writer_;
  int working_;
  std::vector<FinishedRow> at_hand_;
  std::exception_ptr error_;
};

// Rows on their way to the writer: replicas come in thousands a second, and a message each would wait for the writer.
class Parcel {
 public:
  explicit Parcel(const mpi::communicator& world) : world_(world) {}

  void add(const FinishedRow& row) {
    rows_.push_back(encode(row));
    if (rows_.size() >= most || std::chrono::steady_clock::now() - sent_ > longest) send();
  }

  void send() {
    if (!rows_.empty()) world_.send(writer_rank, rows, rows_);
    rows_.clear();
    sent_ = std::chrono::steady_clock::now();
  }

 private:
  static constexpr std::size_t most = 128;
  static constexpr std::chrono::milliseconds longest{200};
  const mpi::communicator& world_;
  std::vector<std::string> rows_;
  std::chrono::steady_clock::time_point sent_ = std::chrono::steady_clock::now();
};

}  // namespace

struct Ranks::Job {
  mpi::environment environment{mpi::threading::funneled};
  mpi::communicator world;
};

Ranks::Ranks() {
  if (is_launched()) job_ = std::make_unique<Job>();
}

Ranks::~Ranks() = default;

int Ranks::count() const { return job_ ? job_->world.size() : 1; }

bool Ranks::is_writer() const { return !job_ || job_->world.rank() == writer_rank; }

bool Ranks::same_everywhere(const std::string& text) const {
  if (!job_) return true;
  std::string writers_text = text;
  mpi::broadcast(job_->world, writers_text, writer_rank);
  return mpi::all_reduce(job_->world, writers_text == text ? 1 : 0, mpi::minimum<int>()) == 1;
}

int Ranks::agree(int writers_word) const {
  if (job_) mpi::broadcast(job_->world, writers_word, writer_rank);
  return writers_word;
}

void Ranks::hand_out(const std::vector<Unit>& units, Writer& writer) const { Desk(job_->world, units, writer).serve(); }

void Ranks::work(const Sweep& sweep, const Items& items, const GenerateOptions& options) const {
  const mpi::communicator& world = job_->world;
  CacheShelf shelf;
  RowRunner runner(sweep, items, shelf);
  Parcel parcel(world);
  while (true) {
    world.send(writer_rank, ask);
    if (world.probe(writer_rank).tag() == no_more) {
      world.recv(writer_rank, no_more);
      return;
    }
    std::vector<std::size_t> wanted;
    world.recv(writer_rank, unit, wanted);
    try {
      for (std::size_t i = 0; i < wanted.size() && !(options.stop != nullptr && *options.stop); ++i)
        parcel.add(runner.run(wanted[i]));
      parcel.send();
    } catch (const std::exception& error) {
      world.send(writer_rank, trouble, std::string(error.what()));
    }
  }
}

}  // namespace noteg::dataset

#else

namespace noteg::dataset {

struct Ranks::Job {};

Ranks::Ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1)
      throw std::runtime_error(
          "started as one of several MPI processes, but this noteg was built without MPI (docs/cluster.md); "
          "--shard I/N needs none");
  }
}

Ranks::~Ranks() = default;

int Ranks::count() const { return 1; }

bool Ranks::is_writer() const { return true; }

bool Ranks::same_everywhere(const std::string& /*text*/) const { return true; }

int Ranks::agree(int writers_word) const { return writers_word; }

void Ranks::hand_out(const std::vector<Unit>& /*units*/, Writer& /*writer*/) const {}

void Ranks::work(const Sweep& /*sweep*/, const Items& /*items*/, const GenerateOptions& /*options*/) const {}

}  // namespace noteg::dataset

#endif
