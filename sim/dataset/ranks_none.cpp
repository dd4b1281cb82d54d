// Built without MPI.
#include <cstdlib>
#include <stdexcept>

#include "sim/dataset/ranks.hpp"

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
