// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "planning/queue/claim_pass.h"
#include "planning/queue/slice_pass.h"
#include "planning/queue/turn_order.h"
#include "planning/queue/verdict.h"
#include "planning/queue/waiting_line.h"

namespace gpupool::planning {

// What the turns of a sharing pool are made from.
struct SliceTurnInput {
  TurnOrder::Shares shares;
  std::function<MilliGpus(const Verdict& verdict)> amount;  // what a verdict counts
  base::WallTime now;
  // Who holds slices. Called at most once, and only if a job could claim those of others. Empty: nobody can.
  std::function<std::vector<HoldingNow>()> holders = {};
  // A node of the pool as it is when the jobs with these UIDs have given back their slices.
  std::function<SharedNode(const std::string& node, const std::set<std::string>& leaving)> without = {};
};

// What workers with so many slices, or GPUs, each take of a node.
MilliGpus amount_on(const SharedNode& node, const api::GpuPool& pool, std::int64_t workers,
                    std::int64_t slices);

// One pass over the queue of a sharing pool with spec.queue. Like TurnPlan, without backfill: what is kept
// for the first in line is kept from all others. A claimed slice is one that a job which yields still has:
// other jobs on the same nodes run on. Pure; not thread-safe.
class SliceTurns {
 public:
  // All outlive this.
  SliceTurns(SlicePass& pass, const api::GpuPool& pool, const WaitingLine& line, const SliceTurnInput& input);

  std::map<api::ObjectKey, Verdict> run();
  // As TurnPlan::look_again().
  std::optional<base::WallTime> look_again() const { return claims_.look_again(); }

 private:
  using Entry = WaitingLine::Entry;
  void place_first();
  void decide(const TurnOrder::Candidate& candidate);
  Verdict ask(const Entry& entry, const std::optional<MilliGpus>& most);
  void answer(const Entry& entry, Verdict verdict);

  // Claims (slice_claim.cc).
  struct Rooms;
  std::optional<Verdict> claim(const Entry& entry, ClaimOf of);
  std::optional<Verdict> claim_by(YieldRule rule, const Entry& entry, ClaimOf of);
  void claim_later_ones();
  Rooms rooms_of(const Entry& entry);
  SlicePass::Nodes with_freed(const YieldChoice::Freed& freed, const Rooms& rooms, ClaimOf of);
  const SharedNode& without(std::size_t index, std::vector<std::size_t> leaving);
  const std::map<std::string, std::vector<std::size_t>>& holders();

  SlicePass& pass_;
  const WaitingLine& line_;
  const SliceTurnInput& input_;
  TurnOrder order_;
  ClaimPass claims_;
  std::map<api::ObjectKey, Verdict> verdicts_;
  const Entry* told_ = nullptr;  // was first in line in the last pass, and has no answer yet
  bool has_first_ = false;
  MilliGpus amount_ = 0;
  bool too_much_ = false;
  std::vector<std::pair<const Entry*, ClaimOf>> later_;              // may claim when the first has an answer
  std::map<std::string, std::vector<std::size_t>> holders_;          // by node: who may yield
  using Leaving = std::pair<std::size_t, std::vector<std::size_t>>;  // node, holdings
  std::map<Leaving, SharedNode> without_;
};

}  // namespace gpupool::planning
