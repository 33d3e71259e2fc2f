// SPDX-License-Identifier: Apache-2.0
#include "books/fact.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/unix_seconds.h"

namespace gpupool::ledger {
namespace {

// Where a segment was found.
struct Source {
  std::string job_uid;
  std::string ns;
  std::string job;
  std::vector<std::string> nodes;  // of segments that name none
};

std::optional<Fact> fact_of(const Source& source, const api::BillSegment& segment) {
  const auto price = base::parse_micros(segment.terms.per_gpu_hour);
  const auto cost = base::parse_micros(segment.cost);
  if (!price || !cost || !segment.from || !segment.to || segment.number < 1) return std::nullopt;
  Fact fact;
  fact.job_uid = source.job_uid;
  fact.number = segment.number;
  fact.ns = source.ns;
  fact.job = source.job;
  fact.pool = segment.terms.pool;
  fact.owner = segment.terms.owner;
  fact.currency = segment.terms.currency;
  fact.per_gpu_hour = *price;
  fact.fee = segment.terms.fee;
  fact.gpus = segment.terms.gpus;
  fact.slices = segment.terms.slices;
  fact.split = segment.terms.split;
  fact.nodes = segment.nodes.empty() ? source.nodes : segment.nodes;
  std::ranges::sort(fact.nodes);
  fact.from = base::unix_seconds(*segment.from);
  fact.to = base::unix_seconds(*segment.to);
  fact.carry = segment.carry;
  fact.cost = *cost;
  return fact;
}

std::vector<Fact> facts_of(const Source& source, const std::vector<api::BillSegment>& segments) {
  std::vector<Fact> facts;
  for (const auto& segment : segments) {
    if (auto fact = fact_of(source, segment)) facts.push_back(*std::move(fact));
  }
  return facts;
}

}  // namespace

std::vector<Fact> facts_of(const api::GpuJob& job) {
  const auto* bill = job.status.bill();
  if (bill == nullptr) return {};
  Source source{job.metadata.uid, job.metadata.ns, job.metadata.name, {}};
  if (job.status.lease) {  // it is being given back
    for (const auto& node : job.status.lease->nodes) source.nodes.push_back(node.name);
  }
  return facts_of(source, bill->segments);
}

std::vector<Fact> facts_of(const api::GpuBillRecord& record) {
  const auto& spec = record.spec;
  return facts_of({spec.job_uid, spec.ns, spec.job, {}}, spec.bill.segments);
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

std::string mention_of(const char* field, const std::string& value) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (value.empty() || !std::ranges::all_of(value, plain)) return {};
  return "\"" + std::string(field) + "\":\"" + value + "\"";
}

base::Result<Fact> fact_from(const std::string& text) { return base::json::read<Fact>(text); }

}  // namespace gpupool::ledger
