// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/spare_nodes.h"

#include <algorithm>

#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {
namespace {

using Candidates = std::vector<const Candidate*>;

bool is_usable(const Candidate& candidate) { return candidate.fits && candidate.node->usable(); }

// Returns the nodes for spares_among().
template <class Which>
std::vector<const PoolNode*> those(const std::vector<Candidate>& nodes, const Which& may_be) {
  std::vector<const PoolNode*> all(nodes.size());
  std::ranges::transform(nodes, all.begin(),
                         [&](const Candidate& each) { return may_be(each) ? each.node : nullptr; });
  return all;
}

// `named` is in order of name, like all candidates.
bool is_among(const Candidates& named, const Candidate& candidate) {
  return std::ranges::binary_search(named, &candidate);
}

std::string spare_nodes(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " spare node" : " spare nodes");
}

}  // namespace

std::int64_t count_of_spares(const api::GpuPool& pool) {
  return pool.spec.spares ? std::max<std::int64_t>(0, pool.spec.spares->nodes) : 0;
}

bool may_be_spare(const PoolNode& node, const api::PoolGpus& wanted) {
  return node.usable() && gpu_mismatch(node, wanted).empty();
}

std::vector<bool> spares_among(const std::vector<const PoolNode*>& nodes, std::int64_t count) {
  std::vector<bool> spare(nodes.size(), false);
  for (const bool tainted : {false, true}) {
    for (auto i = nodes.size(); i-- > 0 && count > 0;) {
      if (nodes[i] == nullptr || nodes[i]->foreign_taints.empty() == tainted) continue;
      spare[i] = true;
      --count;
    }
  }
  return spare;
}

std::vector<bool> spares_now(const std::vector<PoolNode>& nodes, const api::GpuPool& pool) {
  std::vector<const PoolNode*> free(nodes.size());
  std::ranges::transform(nodes, free.begin(), [&](const PoolNode& node) {
    return !node.leased && may_be_spare(node, pool.spec.gpus) ? &node : nullptr;
  });
  return spares_among(free, count_of_spares(pool));
}

std::string besides_spares(std::int64_t count) {
  if (count == 0) return {};
  return ", besides the " + spare_nodes(count) + " that spec.spares of the pool keeps free";
}

void mark_spares(std::vector<Candidate>& nodes, std::int64_t count) {
  if (count == 0) return;
  const auto spare = spares_among(
      those(nodes,
            [](const Candidate& each) { return is_usable(each) && !each.node->leased && !each.given; }),
      count);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].spare = nodes[i].spare || spare[i];
}

Candidates without_spares(Candidates from, const std::vector<Candidate>& nodes, std::int64_t count,
                          bool sound) {
  if (count == 0) return from;
  const auto spare = spares_among(
      those(nodes, [&](const Candidate& each) { return sound ? each.fits : is_usable(each); }), count);
  std::erase_if(from,
                [&](const Candidate* each) { return spare[static_cast<std::size_t>(each - nodes.data())]; });
  return from;
}

bool can_replace_spares(const Candidates& named, const std::vector<Candidate>& nodes) {
  std::int64_t missing = 0;
  std::int64_t missing_untainted = 0;  // a node with a taint is no substitute for one without
  for (const auto* each : named) {
    if (!each->spare) continue;
    ++missing;
    if (each->node->foreign_taints.empty()) ++missing_untainted;
  }
  if (missing == 0) return true;
  for (const auto& each : nodes) {
    if (!each.free() || !is_usable(each) || is_among(named, each)) continue;
    --missing;
    if (each.node->foreign_taints.empty()) --missing_untainted;
  }
  return missing <= 0 && missing_untainted <= 0;
}

void keep_for_spares(const Candidates& named, std::vector<Candidate>& nodes, std::int64_t count) {
  if (count == 0) return;
  const auto stay = std::ranges::count_if(
      nodes, [&](const Candidate& each) { return each.spare && !each.given && !is_among(named, each); });
  const auto kept = spares_among(
      those(nodes,
            [&](const Candidate& each) { return each.free() && is_usable(each) && !is_among(named, each); }),
      count - stay);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].kept = nodes[i].kept || kept[i];
}

std::optional<Verdict> too_few_for_spares(const Candidates& named, const std::vector<Candidate>& nodes,
                                          const api::GpuPool& pool) {
  const auto count = count_of_spares(pool);
  if (count == 0) return std::nullopt;
  std::int64_t fitting = 0;
  std::int64_t usable = 0;
  std::int64_t untainted = 0;
  std::int64_t named_untainted = 0;
  for (const auto& each : nodes) {
    const bool clean = is_usable(each) && each.node->foreign_taints.empty();
    if (is_among(named, each)) {
      named_untainted += clean ? 1 : 0;
      continue;
    }
    untainted += clean ? 1 : 0;
    usable += is_usable(each) ? 1 : 0;
    fitting += each.fits ? 1 : 0;
  }
  if (usable >= count && untainted >= std::min(count, untainted + named_untainted)) return std::nullopt;
  const auto text = "besides the nodes of spec.nodes, pool " + pool.metadata.name +
                    " has too few nodes for " + spare_nodes(count) + " (spec.spares of the pool)";
  if (fitting < count) return Verdict{{}, api::reason::kTooLarge, text};
  return Verdict{{},
                 api::reason::kWaitingForNodes,
                 text + " as long as others are not ready, cordoned, drained or tainted"};
}

}  // namespace gpupool::planning
