// SPDX-License-Identifier: Apache-2.0
// Claims in a sharing pool: jobs that get slices which others hold, and who yields to them.
#include <algorithm>
#include <utility>

#include "planning/queue/slice_turns.h"

namespace gpupool::planning {
namespace {

// A job of slices may take any part of a GPU.
constexpr MilliGpus kLeast = 1;

}  // namespace

// Where a claimant may run.
struct SliceTurns::Rooms {
  std::vector<bool> useful;         // nodes
  std::vector<std::int64_t> worth;  // by holding, of YieldChoice::choose()
  std::int64_t missing = 0;         // Claimant::missing
};

// Only a guarantee comes before the job that is first in line: others may not take what it was promised. So
// they try again when its slices are kept.
std::optional<Verdict> SliceTurns::claim(const Entry& entry, ClaimOf of) {
  if (!claims_.open()) return std::nullopt;
  const auto& turn = entry.demand().turn;
  const auto& own = order_.share(turn.tenant);
  for (const auto rule : ClaimPass::kRules) {
    if (!claims_.allows(rule) || (of == ClaimOf::kItsOwn && rule != YieldRule::kPriority)) continue;
    if (rule != YieldRule::kGuarantee && told_ != nullptr && told_ != &entry) {
      if (later_.empty() || later_.back().first != &entry) later_.emplace_back(&entry, of);
      continue;
    }
    if (!claims_.may_claim(rule, turn, *entry.job(), kLeast, own)) continue;
    if (auto verdict = claim_by(rule, entry, of)) return verdict;
  }
  return std::nullopt;
}

void SliceTurns::claim_later_ones() {
  for (const auto& [entry, of] : later_) {
    const auto known = verdicts_.find(entry->position().key);
    if (known == verdicts_.end() || !known->second.nodes.empty()) continue;
    if (auto verdict = claim(*entry, of)) {
      order_.add_held(entry->demand().turn.tenant, amount_);
      return answer(*entry, *std::move(verdict));
    }
  }
}

// By node.
const std::map<std::string, std::vector<std::size_t>>& SliceTurns::holders() {
  const auto& holders = claims_.yields().holders();
  if (!holders_.empty()) return holders_;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    if (!holders[i].may_yield) continue;
    for (const auto& node : holders[i].holding->nodes) holders_[node].push_back(i);
  }
  return holders_;
}

SliceTurns::Rooms SliceTurns::rooms_of(const Entry& entry) {
  const auto& by_node = holders();
  const auto each = pass_.rooms(entry);
  Rooms rooms;
  rooms.useful.resize(each.size());
  rooms.worth.resize(claims_.yields().holders().size());
  rooms.missing = api::worker_count(entry.job()->spec);
  for (std::size_t i = 0; i < each.size(); ++i) {
    rooms.missing -= each[i].now;
    rooms.useful[i] = each[i].empty > 0;
    const auto holders = by_node.find(pass_.nodes()[i].node.name);
    if (!rooms.useful[i] || holders == by_node.end()) continue;
    for (const auto holder : holders->second) rooms.worth[holder] += each[i].empty;
  }
  rooms.missing = std::max<std::int64_t>(1, rooms.missing);
  return rooms;
}

const SharedNode& SliceTurns::without(std::size_t index, std::vector<std::size_t> leaving) {
  const Leaving key(index, std::move(leaving));
  if (const auto known = without_.find(key); known != without_.end()) return known->second;
  std::set<std::string> uids;
  for (const auto holder : key.second) uids.insert(claims_.yields().holders()[holder].holding->uid);
  auto node = input_.without(pass_.nodes()[index].node.name, uids);
  pass_.add_grants(index, node);
  return without_.emplace(key, std::move(node)).first->second;
}

// All nodes of the pool, as if these jobs had given back what they hold; null: not for this claim.
SlicePass::Nodes SliceTurns::with_freed(const YieldChoice::Freed& freed, const Rooms& rooms, ClaimOf of) {
  SlicePass::Nodes nodes;
  nodes.reserve(pass_.nodes().size());
  for (std::size_t i = 0; i < pass_.nodes().size(); ++i) {
    const auto& node = pass_.nodes()[i];
    const auto holders = rooms.useful[i] ? holders_.find(node.node.name) : holders_.end();
    std::vector<std::size_t> leaving;
    if (holders != holders_.end())
      std::ranges::copy_if(holders->second, std::back_inserter(leaving),
                           [&](auto each) { return freed[each]; });
    if (!leaving.empty()) {
      nodes.push_back(&without(i, std::move(leaving)));
    } else {
      nodes.push_back(of == ClaimOf::kItsOwn ? nullptr : &node);
    }
  }
  return nodes;
}

std::optional<Verdict> SliceTurns::claim_by(YieldRule rule, const Entry& entry, ClaimOf of) {
  const auto& turn = entry.demand().turn;
  const auto rooms = rooms_of(entry);
  without_.clear();  // jobs may have got slices since
  const auto room_of = [&](const YieldChoice::Freed& freed) -> std::optional<ClaimRoom> {
    const auto placed = pass_.answer_on(entry, with_freed(freed, rooms, of));
    if (!placed) return std::nullopt;
    ClaimRoom room;
    room.amount = input_.amount(*placed);
    for (const auto& ref : placed->nodes) {
      const auto here = holders_.find(ref.name);
      if (here == holders_.end()) continue;
      std::ranges::copy_if(here->second, std::back_inserter(room.holders),
                           [&](auto each) { return freed[each]; });
    }
    std::ranges::sort(room.holders);
    const auto twice = std::ranges::unique(room.holders);
    room.holders.erase(twice.begin(), twice.end());
    MilliGpus given = 0;
    for (const auto each : room.holders) given += claims_.yields().holders()[each].holding->amount;
    if (of == ClaimOf::kItsOwn && room.amount > given) return std::nullopt;
    return room;
  };
  const Claimant claimant{turn.tenant, turn.priority, rooms.missing, kLeast};
  const auto choice = claims_.yields().choose(claimant, rule, rooms.worth, room_of);
  if (!choice) return std::nullopt;
  YieldChoice::Freed freed(rooms.worth.size());
  for (const auto each : choice->victims) freed[each] = true;
  auto placed = pass_.answer_on(entry, with_freed(freed, rooms, of));
  if (!placed) return std::nullopt;
  amount_ = input_.amount(*placed);
  pass_.give(entry, *placed);
  auto verdict = claims_.take(rule, turn.tenant, *choice);
  verdict.nodes = std::move(placed->nodes);
  verdict.slices = placed->slices;
  verdict.unit = placed->unit;
  return verdict;
}

}  // namespace gpupool::planning
