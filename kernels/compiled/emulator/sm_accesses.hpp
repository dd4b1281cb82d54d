// All global accesses of the CTAs on one SM, walked through by emulation: what L1 holds of them, what is on its way,
// what L2 is asked for again, and in which runs and places of memory it lies.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "kernels/compiled/barriers.hpp"
#include "kernels/compiled/emulator/cta_addresses.hpp"
#include "sim/memory/l1_cache.hpp"
#include "sim/memory/stack_distance.hpp"
#include "sim/support/flat_map.hpp"

namespace noteg::compiled {

// Lines that follow each other come from DRAM as one place of so many bytes does (h100_memory_micro: dram_lines of
// neighbours, 8 of them 14 cycles later than one; 8 at random places 190).
inline constexpr std::uint64_t place_bytes = 1024;

struct L1Spec {
  std::int64_t bytes = 128 * 1024;
  int sms = 1;       // of the GPU
  int resident = 1;  // CTAs on an SM
  int gpcs = 1;      // of the GPU
};

// When an SM's warps came to an access: rounds of basic blocks, and which of the accesses of the block it is, those
// behind an answer far from those before.
struct AccessTime {
  std::uint32_t round = 0;
  std::int32_t position = 0;
};

// By instruction: what loads before it wait for. Loads of one number wait together: nothing uses an answer before the
// last of them has been asked for.
[[nodiscard]] std::vector<int> load_waits(const EmulatedCode& code);

// Distinct sectors of an access, in the order of lanes.
void sectors_of(const Access& access, std::vector<std::uint64_t>& out);

class SmAccesses : public WarpWatcher {
 public:
  static constexpr std::size_t most_sectors = 150'000;  // that a walk looks at

  // How often a warp comes to loads in the first turn of a loop that holds their loops, by instruction.
  using FirstTurns = std::map<std::int32_t, std::int64_t>;
  // What is known of a kernel's loads before they are walked through.
  struct LoadFacts {
    std::vector<int> waits;  // load_waits
    FirstTurns first_turns;
  };

  // All but l1 have to outlive it.
  SmAccesses(const EmulatedCode& code, const L1Spec& l1, const AsyncPlan& async, const LoadFacts& facts);

  // CTA `index` and those that the SM takes with it into so many of its slots, in rounds, as far as tells enough: of so
  // many sectors at most. Who goes on walks through those that follow in these slots as well, which stand for all later
  // ones; else it is enough for merged_with().
  void walk(const Launch& launch, const LaunchMemory& memory, std::int64_t index, int slots, std::size_t most,
            bool goes_on);

  void enters(int warp, std::int32_t block, std::uint32_t lanes) override;
  void accesses(int warp, const Access& access) override;
  void acts(int warp, const AsyncAct& act) override;
  void assumes(std::int32_t, bool) override {}
  std::optional<std::size_t> position(int) const override { return std::nullopt; }
  bool repeats(int, std::size_t, std::size_t, std::size_t) const override { return false; }
  void repeat(int, std::size_t, std::size_t, std::int64_t) override {}

  // Mean length of the runs of bytes in which the CTA's warps execute the instruction first.
  [[nodiscard]] double run(std::size_t at) const;
  // The same of several instructions together: what is asked for at once.
  [[nodiscard]] double run(const std::vector<std::size_t>& all) const;
  // Places of DRAM in which what several ask for at once lies, for each of so many that wait for their own.
  [[nodiscard]] double places(const std::vector<std::size_t>& all, double waiting_alone) const;
  // Of the sectors that the first CTA stores to with an instruction, those that it leaves in part as they were.
  [[nodiscard]] double partial(std::size_t at) const;
  // Different sectors that the first so many CTAs touched, over those of all.
  [[nodiscard]] double share_of(std::size_t ctas) const;
  // Of the sectors that L2 is asked for, those that do not arrive there: other SMs ask for the same at one time, and
  // requests merge two by two.
  [[nodiscard]] double merged_with(std::span<const std::unique_ptr<SmAccesses>> others) const;

  // Sectors that an instruction goes to. found: in L1, of those whole: by accesses that find all of theirs; joined:
  // what L2 was asked for in the same turn, so that it is on its way. passed: to L2, of those again: what the SM has
  // asked for or stored to before; since: how many different others went to or came from L2 in between (of a store,
  // since the one before it, at one stretch), in all, and its square.
  struct Lookups {
    double asked = 0, unique = 0, found = 0, whole = 0, joined = 0, passed = 0, again = 0, since = 0, since_squared = 0;

    void add(const Lookups& o, double times = 1);
    [[nodiscard]] Lookups without(const Lookups& part) const {
      Lookups out = *this;
      out.add(part, -1);
      return out;
    }
    // Those of so many generations of later CTAs, for each like these.
    void mix_in(const Lookups& later, double times);
  };
  std::vector<Lookups> lookups;                   // by instruction
  std::map<std::int32_t, Lookups> of_first_turn;  // of those with a first turn, there
  // Of atomic operations, by instruction: turns that sectors take over the lanes of an access, since lanes of one word
  // go one after the other; and different words.
  std::vector<double> turns, words;

 private:
  // In which round a sector was asked of L2 last, and with which others of its line. CTAs that copy in bulk and share
  // an SM part; they stay in lockstep with those of their slot alone.
  struct Miss {
    std::uint32_t round = 0;
    std::uint8_t of_line = 0;
    int copying_slot = -1;

    // With one of another SM, of the same sector: equal requests at one time.
    [[nodiscard]] bool merges(const Miss& other) const {
      constexpr std::uint32_t apart = 4;  // rounds: ways of some blocks more or less
      return of_line == other.of_line && copying_slot == other.copying_slot &&
             std::max(round, other.round) - std::min(round, other.round) <= apart;
    }
  };
  // A sector that an instruction goes to, and whether through L1.
  enum class Way : std::uint8_t { l1, past_l1, store };
  struct Touch {
    std::uint64_t sector = 0;
    AccessTime time;
    std::uint32_t at = 0;
    Way way = Way::l1;
    bool in_first_turn = false;
  };
  // When L2 was asked for a sector or sent it last, in sectors, and the longest stretch since it was sent it.
  struct Passage {
    std::uint32_t last = 0, widest = 0;
  };
  struct FirstExecutions {
    std::set<std::uint64_t> sectors;
    std::map<int, std::size_t> begun;  // by warp: how much of `asked` there was when it came first
  };
  bool go_through(std::vector<EmulatedCta>& ctas, std::size_t most = most_sectors);
  void walk_later(std::vector<EmulatedCta>& ctas, double generations);
  bool find_in_l1(Lookups& of, const Touch& touch);
  void pass_to_l2(Lookups& of, const Touch& touch);
  void touch_later(Touch touch, std::uint64_t generation);
  void goes_there(std::uint64_t each, int cta);
  [[nodiscard]] std::set<std::uint64_t> together(const std::vector<std::size_t>& all) const;
  void write_bytes(std::size_t at, const Access& access);
  void take_turns(std::size_t at, const Access& access);
  void note(std::size_t at, int warp, std::uint64_t each, bool stores);
  [[nodiscard]] bool is_in_first_turn(int warp, std::int32_t at);  // counts it
  [[nodiscard]] std::uint8_t asked_of_line(std::uint64_t each) const;
  [[nodiscard]] bool on_its_way(const AccessTime& asked_for, const AccessTime& now) const;

  const EmulatedCode& code_;
  L1Spec spec_;
  memory::L1Cache<AccessTime> l1_;
  struct Seen {};
  FlatMap<Miss> missed_;                          // by sector, of the first CTAs
  FlatMap<Passage> passages_;                     // by sector, of CTAs at one time
  memory::StackDistance distance_;                // of sectors to and from L2
  std::vector<FlatMap<Seen>> of_cta_;             // sectors read, and written
  FlatMap<std::uint32_t> written_;                // bytes of sectors, by the first CTA
  std::map<std::size_t, FlatMap<Seen>> stored_;   // sectors, by instruction
  std::vector<bool> empties_l1_;                  // by block: it invalidates L1 (CCTL.IVALL)
  std::map<std::size_t, FirstExecutions> first_;  // of the first CTA, by instruction
  std::vector<Lookups> later_;                    // of later CTAs, by instruction; empty: the first ones run
  std::map<std::int32_t, Lookups> later_first_turn_;
  const LoadFacts& facts_;
  FlatMap<std::int64_t> came_;             // executions, by CTA, warp and instruction of a first turn
  std::vector<Touch> touches_;             // of the second CTAs
  FlatMap<int> owners_;                    // by sector, once later CTAs run: who goes there, -1: several do
  std::size_t execution_ = 0, total_ = 0;  // accesses so far; sectors
  AccessTime now_;
  int wait_ = -1;           // LoadFacts::waits of the access before, in this block
  std::int64_t warps_ = 1;  // that take turns in it
  int cta_ = 0;             // whose warp runs
  const AsyncPlan& async_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace noteg::compiled
