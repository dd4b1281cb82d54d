#include "sim/validate/host_time.hpp"

#include <algorithm>
#include <array>

namespace noteg::validate {
namespace {

// floor_us: 2 % quantile of the rows on A100-PCIE-40GB, which has thousands of kernels shorter than the host's time.
// The other GPUs have none so short, so there the floor is the shortest row and binds nothing; it only keeps the
// prediction of a smaller shape from falling below what was ever seen.
constexpr std::array<HostTimeRow, 8> rows{{
    {"neusight", "bmm", "A100-PCIE-40GB", {32.2, 0}},
    {"neusight", "linear", "A100-PCIE-40GB", {54.6, 0}},
    {"neusight", "bmm", "A100-PCIE-80GB", {35.9, 0}},
    {"neusight", "linear", "A100-PCIE-80GB", {86.5, 0}},
    {"neusight", "bmm", "H100-SXM5-80GB", {24.2, 0}},
    {"neusight", "linear", "H100-SXM5-80GB", {53.2, 0}},
    {"neusight", "bmm", "L4", {44.6, 0}},
    {"neusight", "linear", "L4", {124.5, 0}},
}};

}  // namespace

std::span<const HostTimeRow> host_times() { return rows; }

HostTime host_time_of(std::string_view source, std::string_view op, std::string_view gpu) {
  for (const HostTimeRow& row : rows)
    if (row.source == source && row.op == op && row.gpu == gpu) return row.time;
  return {};
}

double with_host(const HostTime& host, double gpu_us) { return std::max(host.floor_us, host.lead_us + gpu_us); }

}  // namespace noteg::validate
