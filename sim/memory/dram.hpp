// How long a group of loads waits for DRAM. Measured on an H200 with pointer chases beside a load of other SMs and
// with whole tiles fetched at once: a single access takes the unloaded latency; the last of N accesses that leave
// together comes later by the spread of single accesses, and all wait in a queue that grows with the load.
// Times are in any unit, the same for all arguments and results.
#pragma once

namespace noteg::memory {

// Expected time by which the last of `accesses` is later than the mean one, where single accesses spread
// exponentially with mean `service`: service * (1 + 1/2 + ... + 1/N - 1). 0 for one access.
[[nodiscard]] double last_of_group(double accesses, double service);

// Mean wait in a queue with random arrivals and a fixed service time (Pollaczek and Khinchine), `utilisation` 0..1.
// Finite at 1: a closed set of SMs cannot queue more than it has outstanding, so the wait stops growing at 0.87, the
// highest that was measured.
[[nodiscard]] double queue_wait(double utilisation, double service);

}  // namespace noteg::memory
