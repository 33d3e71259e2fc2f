// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/job-life/bill_audit.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace gpupool::test {
namespace {

namespace state = api::lease_state;

bool billed_state(const api::GpuJobStatus& status) {
  if (!status.lease) return false;
  const auto& now = status.lease->state;
  return now == state::kHeld || now == state::kRunning || now == state::kRestarting;
}

double seconds(base::WallTime from, base::WallTime to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

std::vector<std::string> names(const api::GpuJobStatus& status) {
  std::vector<std::string> all;
  for (const auto& node : status.lease->nodes) all.push_back(node.name);
  return all;
}

}  // namespace

// A node that leaves and one that comes under its name in the same write are told apart by nobody here: the
// stories do not do that.
void BillAudit::count(const api::GpuJobStatus& status, const Facts& facts) {
  std::map<std::string, bool> held;
  if (billed_state(status)) {
    for (const auto& name : names(status)) held[name] = true;
  }
  const bool taking = before_.lease && before_.lease->state == state::kTaking;
  const auto begin = taking && facts.first_pod ? *facts.first_pod : facts.now;
  if (taking && !billed_state(status) && status.lease && facts.first_pod) {  // it ended before it was seen
    for (const auto& name : names(status)) nodes_[name].from = begin;
  }
  for (auto& [name, node] : nodes_) {
    if (!node.from || held.contains(name)) continue;
    node.most += seconds(*node.from, facts.now);
    node.least += seconds(*node.from, std::min(facts.now, facts.idle_since(name)));
    ++node.intervals;
    node.from.reset();
  }
  for (const auto& [name, unused] : held) {
    auto& node = nodes_[name];
    if (!node.from) node.from = begin;
  }
}

std::string BillAudit::take_segments(const api::GpuJobStatus& status) {
  for (const auto& segment : status.bill()->segments) {
    auto named = segment;
    if (named.nodes.empty()) named.nodes = names(status);
    const auto [known, added] = segments_.try_emplace(segment.number, named);
    if (!added && known->second != named) return "segment " + std::to_string(segment.number) + " has changed";
    if (!added) continue;
    if (!(*named.from < *named.to)) return "an empty segment";
    if (static_cast<std::int64_t>(named.nodes.size()) != named.node_count) return "nodeCount";
    for (const auto& node : named.nodes) nodes_[node].billed += seconds(*named.from, *named.to);
    for (const auto& [number, other] : segments_) {
      if (number == segment.number || *other.to <= *named.from || *named.to <= *other.from) continue;
      for (const auto& node : named.nodes) {
        if (std::ranges::find(other.nodes, node) != other.nodes.end())
          return "node " + node + " is billed twice";
      }
    }
  }
  const auto last = segments_.empty() ? 0 : segments_.rbegin()->first;
  if (last != status.bill()->segment_count || last != static_cast<std::int64_t>(segments_.size()))
    return "numbers of segments";
  return {};
}

// The amounts are those of the whole time; each lease leaves out less than a millionth.
std::string BillAudit::check_sums(const api::JobBill& bill) const {
  double exact = 0;
  double sum = 0;
  for (const auto& [number, segment] : segments_) {
    const auto& terms = segment.terms;
    const double gpus = terms.slices > 0
                            ? static_cast<double>(terms.slices) / static_cast<double>(terms.split)
                            : static_cast<double>(terms.gpus);
    exact += std::stod(terms.per_gpu_hour) * gpus * static_cast<double>(segment.node_count) *
             seconds(*segment.from, *segment.to) / 3600;
    sum += std::stod(segment.cost);
  }
  if (std::abs(std::stod(bill.cost) - sum) > 1e-7) return "cost is not the sum of the segments";
  if (sum > exact + 1e-7 || sum < exact - 1e-6 * (leases_ + 1)) return "the sum is not what was used";
  return {};
}

std::string BillAudit::look(const api::GpuJobStatus& status, const Facts& facts) {
  count(status, facts);
  const auto id = [](const api::GpuJobStatus& any) { return any.lease ? any.lease->id : std::string(); };
  if (id(status) != id(before_)) ++leases_;
  before_ = status;
  if (status.bill() == nullptr) return nodes_.empty() ? "" : "there is no bill";
  if (auto wrong = take_segments(status); !wrong.empty()) return wrong;
  if (auto wrong = check_sums(*status.bill()); !wrong.empty()) return wrong;
  for (const auto& [name, node] : nodes_) {
    if (node.from) continue;
    const double inexact = 1.0 + node.intervals;  // whole seconds
    if (node.billed > node.most + inexact || node.billed < node.least - inexact)
      return "node " + name + " was held for " + std::to_string(node.most) + " s, at least " +
             std::to_string(node.least) + " s of it in use, and is billed for " + std::to_string(node.billed);
  }
  std::size_t open = 0;
  for (const auto& part : status.bill()->open) open += part.from ? 1U : 0U;
  const bool held =
      std::ranges::any_of(nodes_, [](const auto& each) { return each.second.from.has_value(); });
  if (held != (open > 0)) return held ? "held, and nothing is open" : "not held, and something is open";
  return {};
}

}  // namespace gpupool::test
