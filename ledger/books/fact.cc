// SPDX-License-Identifier: Apache-2.0
#include "books/fact.h"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

namespace gpupool::ledger {
namespace {

std::int64_t unix_seconds(base::WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::optional<Fact> fact_of(const api::GpuJob& job, const api::BillSegment& segment) {
  const auto price = base::parse_micros(segment.terms.per_gpu_hour);
  const auto cost = base::parse_micros(segment.cost);
  if (!price || !cost || !segment.from || !segment.to || segment.number < 1) return std::nullopt;
  Fact fact;
  fact.job_uid = job.metadata.uid;
  fact.number = segment.number;
  fact.ns = job.metadata.ns;
  fact.job = job.metadata.name;
  fact.pool = segment.terms.pool;
  fact.owner = segment.terms.owner;
  fact.currency = segment.terms.currency;
  fact.per_gpu_hour = *price;
  fact.fee = segment.terms.fee;
  fact.gpus = segment.terms.gpus;
  fact.slices = segment.terms.slices;
  fact.split = segment.terms.split;
  fact.nodes = segment.nodes;
  if (fact.nodes.empty() && job.status.lease) {  // all nodes of the lease, which is being given back
    for (const auto& node : job.status.lease->nodes) fact.nodes.push_back(node.name);
  }
  std::ranges::sort(fact.nodes);
  fact.from = unix_seconds(*segment.from);
  fact.to = unix_seconds(*segment.to);
  fact.carry = segment.carry;
  fact.cost = *cost;
  return fact;
}

}  // namespace

std::vector<Fact> facts_of(const api::GpuJob& job) {
  std::vector<Fact> facts;
  const auto* bill = job.status.bill();
  if (bill == nullptr) return facts;
  for (const auto& segment : bill->segments) {
    if (auto fact = fact_of(job, segment)) facts.push_back(*std::move(fact));
  }
  return facts;
}

std::optional<base::Micros> cost_until(const Fact& fact, std::int64_t moment) {
  const auto seconds = std::clamp(moment, fact.from, fact.to) - fact.from;
  const auto charge =
      base::charge_for(fact.per_gpu_hour, fact.units(), fact.units_of_gpu(), seconds, fact.carry);
  if (!charge) return std::nullopt;
  return charge->amount;
}

std::string to_text(const Fact& fact) {
  const nlohmann::json fields = {{"jobUid", fact.job_uid},
                                 {"number", fact.number},
                                 {"namespace", fact.ns},
                                 {"job", fact.job},
                                 {"pool", fact.pool},
                                 {"owner", fact.owner},
                                 {"currency", fact.currency},
                                 {"perGpuHour", fact.per_gpu_hour},
                                 {"fee", fact.fee},
                                 {"gpus", fact.gpus},
                                 {"slices", fact.slices},
                                 {"split", fact.split},
                                 {"nodes", fact.nodes},
                                 {"from", fact.from},
                                 {"to", fact.to},
                                 {"carry", fact.carry},
                                 {"cost", fact.cost}};
  return fields.dump();  // keys are in order
}

base::Result<Fact> fact_from(const std::string& text) { return base::json::read<Fact>(text); }

}  // namespace gpupool::ledger
