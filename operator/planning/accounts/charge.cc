// SPDX-License-Identifier: Apache-2.0
#include "planning/accounts/charge.h"

#include <algorithm>

#include "base/unix_seconds.h"

namespace gpupool::planning {
namespace {

ChargedTime charged_time(const api::BillTerms& terms, std::int64_t nodes,
                         const std::optional<base::WallTime>& from) {
  ChargedTime time;
  time.per_gpu_hour = base::parse_micros(terms.per_gpu_hour).value_or(0);
  time.units = (terms.slices > 0 ? terms.slices : terms.gpus) * nodes;
  time.split = terms.slices > 0 ? std::max<std::int64_t>(terms.split, 1) : 1;
  if (from) time.from = base::unix_seconds(*from);
  return time;
}

// What it costs until then, from its begin on.
base::Micros cost_until(const ChargedTime& time, std::int64_t moment) {
  const auto end = time.to ? std::min(*time.to, moment) : moment;
  if (!time.from || end <= *time.from) return 0;
  const auto charge =
      base::charge_for(time.per_gpu_hour, time.units, time.split, end - *time.from, time.carry);
  return charge ? charge->amount : 0;
}

}  // namespace

JobCharge charge_of(const api::JobBill& bill, std::int64_t lease_nodes, const std::string& currency) {
  JobCharge charge;
  charge.reserve(bill.open.size() + bill.segments.size());
  auto unnamed = lease_nodes;
  for (const auto& part : bill.open) unnamed -= static_cast<std::int64_t>(part.nodes.size());
  for (const auto& part : bill.open) {
    if (part.terms.currency != currency) continue;
    const auto nodes = part.nodes.empty() ? unnamed : static_cast<std::int64_t>(part.nodes.size());
    charge.push_back(charged_time(part.terms, std::max<std::int64_t>(nodes, 0), part.from));
  }
  for (const auto& segment : bill.segments) {
    if (segment.terms.currency != currency || !segment.to) continue;
    auto time = charged_time(segment.terms, segment.node_count, segment.from);
    time.carry = segment.carry;
    time.to = base::unix_seconds(*segment.to);
    time.number = segment.number;
    charge.push_back(time);
  }
  return charge;
}

JobCharge charge_of(const api::GpuJob& job, const std::string& currency) {
  const auto* bill = job.status.bill();
  if (bill == nullptr) return {};
  const auto nodes = job.status.lease ? job.status.lease->nodes.size() : 0;
  return charge_of(*bill, static_cast<std::int64_t>(nodes), currency);
}

base::Micros hourly_rate(const JobCharge& charge) {
  base::Micros rate = 0;
  for (const auto& time : charge) {
    if (time.to) continue;
    const auto hour = base::charge_for(time.per_gpu_hour, time.units, time.split, 3600, 0);
    if (hour) rate += hour->amount + (hour->carry > 0 ? 1 : 0);
  }
  return rate;
}

base::Micros cost_in(const JobCharge& charge, const Stretch& time, std::int64_t entered) {
  base::Micros cost = 0;
  for (const auto& one : charge) {
    if (one.to && one.number <= entered) continue;
    cost += cost_until(one, time.to) - cost_until(one, time.from);
  }
  return cost;
}

std::int64_t last_ended_by(const JobCharge& charge, std::int64_t moment) {
  std::int64_t last = 0;
  for (const auto& time : charge) {
    if (time.to && *time.to <= moment) last = std::max(last, time.number);
  }
  return last;
}

}  // namespace gpupool::planning
