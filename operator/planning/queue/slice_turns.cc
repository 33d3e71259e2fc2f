// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/slice_turns.h"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {

namespace reason = api::reason;

MilliGpus amount_on(const SharedNode& node, const api::GpuPool& pool, std::int64_t workers,
                    std::int64_t slices) {
  const auto& queue = *pool.spec.queue;
  if (pool.spec.rents_gpus()) return gpu_amount(queue, node.node.model, slices * workers);
  if (node.gpus.empty()) return 0;
  const auto& gpu = node.gpus.front();
  return workers * slice_amount(queue, gpu.model, slices, std::max<std::int64_t>(1, gpu.size.count));
}

SliceTurns::SliceTurns(SlicePass& pass, const api::GpuPool& pool, const WaitingLine& line,
                       const SliceTurnInput& input)
    : pass_(pass),
      line_(line),
      input_(input),
      order_(*pool.spec.queue, line, input.shares, input.now, true),
      claims_(
          pool, input.holders, [this](const std::string& tenant) { return order_.share_of_any(tenant); },
          input.now) {
  pass_.notes_grants = claims_.open();
}

std::map<api::ObjectKey, Verdict> SliceTurns::run() {
  told_ = first_told(line_);
  while (const auto candidate = order_.next()) {
    if (!candidate->within_guarantee) place_first();
    decide(*candidate);
  }
  place_first();
  claim_later_ones();
  claims_.end();
  return std::move(verdicts_);
}

// most: what the tenant may hold with the job.
Verdict SliceTurns::ask(const Entry& entry, const std::optional<MilliGpus>& most) {
  const auto& share = order_.share(entry.demand().turn.tenant);
  too_much_ = false;
  pass_.accept = [this, &share, most](const Verdict& verdict) {
    amount_ = input_.amount(verdict);
    too_much_ = most && share.held + amount_ > *most;
    return !too_much_;
  };
  return pass_.decide(entry);
}

// Decides about the job that is first in line already.
void SliceTurns::place_first() {
  const auto* entry = std::exchange(told_, nullptr);
  if (entry == nullptr || verdicts_.contains(entry->position().key)) return;
  const auto& share = order_.share(entry->demand().turn.tenant);
  if (share.tenant.refused) return;
  auto verdict = ask(*entry, share.tenant.limit);
  if (too_much_ || (verdict.nodes.empty() && !verdict.waits)) return;
  if (verdict.waits) {
    if (auto claimed = claim(*entry, ClaimOf::kAll)) verdict = *std::move(claimed);
  }
  if (!verdict.nodes.empty()) order_.add_held(share.tenant.name, amount_);
  answer(*entry, std::move(verdict));
}

void SliceTurns::decide(const TurnOrder::Candidate& candidate) {
  const auto& demand = *candidate.demand;
  const auto& job = **candidate.job;
  const auto known = verdicts_.find(job.metadata.key());
  if (known != verdicts_.end() && !known->second.nodes.empty()) return order_.skip();
  const auto& share = order_.share(demand.turn.tenant);
  const auto& entry = *line_.find(job.metadata.key());
  auto verdict = refused_tenant(pass_.pool(), job.metadata.ns);
  if (!share.tenant.refused) {
    verdict =
        ask(entry, candidate.within_guarantee ? std::optional(share.tenant.guaranteed) : share.tenant.limit);
    if (too_much_ && candidate.within_guarantee) return order_.refuse_guarantee();
    if (too_much_) verdict = over_limit(pass_.pool(), share.tenant, amount_, demand.text());
  }
  if ((verdict.waits || too_much_) && known == verdicts_.end()) {
    if (auto claimed = claim(entry, too_much_ ? ClaimOf::kItsOwn : ClaimOf::kAll))
      verdict = *std::move(claimed);
  }
  if (!verdict.nodes.empty()) {
    answer(entry, std::move(verdict));
    return order_.grant(amount_);
  }
  for (const auto& [position, other] : entry.group().jobs) {
    if (!verdicts_.contains(position.key)) answer(*line_.find(position.key), verdict);
  }
  order_.refuse();
}

// Who is within a guarantee may pass the job that is first in line, and does not take its place.
void SliceTurns::answer(const Entry& entry, Verdict verdict) {
  verdict.turn = api::JobQueueStatus{entry.demand().turn.tenant, {}, {}};
  const bool other_comes = told_ != nullptr && told_ != &entry;
  if (verdict.waits && !has_first_ && !other_comes) {
    has_first_ = true;
    pass_.keep();
    const auto& progress = entry.job()->status.progress;
    const auto since = progress && progress->queue ? progress->queue->reserved_since : std::nullopt;
    verdict.turn->reserved_since = since.value_or(input_.now);
    verdict.reason = reason::kFirstInLine;
    verdict.message = "first in line: " + verdict.message;
  } else if (verdict.waits) {
    verdict.reason = reason::kWaitingForTurn;
  }
  verdicts_[entry.position().key] = std::move(verdict);
}

}  // namespace gpupool::planning
