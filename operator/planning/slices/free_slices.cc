// SPDX-License-Identifier: Apache-2.0
#include "planning/slices/free_slices.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "planning/slices/slice_size.h"

namespace gpupool::planning {
namespace {

std::int64_t ceiling_of_quotient(std::int64_t amount, std::int64_t by) { return (amount + by - 1) / by; }

// Number of places on the node for one GPU's part of this claim.
std::int64_t places(const SharedNode& node, const Claim& claim) {
  std::int64_t count = 0;
  for (const auto& gpu : node.gpus) count += std::max<std::int64_t>(0, gpu.free) / claim.per_gpu();
  return count;
}

// Number of places for `victim` that this claim takes in the worst case.
std::int64_t cost(const Claim& claim, const Claim& victim) {
  return claim.gpus * ceiling_of_quotient(claim.per_gpu(), victim.per_gpu());
}

struct Group {
  Claim claim;
  std::int64_t count = 0;
};

// Groups claims of the same size.
std::vector<Group> grouped(const std::vector<Claim>& claims) {
  std::map<std::pair<std::int64_t, std::int64_t>, Group> groups;
  for (const auto& claim : claims) {
    auto& group = groups[{claim.slices, claim.gpus}];
    group.claim = claim;
    ++group.count;
  }
  std::vector<Group> list;
  list.reserve(groups.size());
  for (const auto& [size, group] : groups) list.push_back(group);
  return list;
}

// Number of new workers that leave enough places for `victim`, after the places that the groups take.
std::int64_t allowed_by(const SharedNode& node, const Claim& victim, const std::vector<Group>& groups,
                        const Claim& fresh) {
  auto left = places(node, victim);
  for (const auto& group : groups) left -= group.count * cost(group.claim, victim);
  return left < 0 ? 0 : left / cost(fresh, victim);
}

}  // namespace

std::optional<Claim> claim_on(const SharedNode& node, const SliceNeed& need) {
  if (node.gpus.empty()) return std::nullopt;
  if (need.whole_gpus > 0) {
    const auto& size = node.gpus.front().size;
    const bool alike = std::all_of(node.gpus.begin(), node.gpus.end(),
                                   [&](const SharedGpu& gpu) { return gpu.size.count == size.count; });
    if (!alike || need.whole_gpus > static_cast<std::int64_t>(node.gpus.size())) return std::nullopt;
    return Claim{slices_for(need, size), need.whole_gpus};
  }
  std::optional<std::int64_t> least;
  for (const auto& gpu : node.gpus) {
    const auto slices = slices_for(need, gpu.size);
    if (slices > gpu.size.count || (least && *least <= slices)) continue;
    const bool enough = std::all_of(node.gpus.begin(), node.gpus.end(), [&](const SharedGpu& other) {
      return slices > other.size.count || slices_for(need, other.size) <= slices;
    });
    if (enough) least = slices;
  }
  if (!least) return std::nullopt;
  return Claim{*least, 1};
}

std::int64_t room_for(const SharedNode& node, const Claim& claim) {
  const auto groups = grouped(node.claims);
  // The scheduler counts only what the kubelet advertises, so that must be enough too.
  auto room = std::max<std::int64_t>(0, node.advertised - node.held) / claim.slices;
  room = std::min(room, allowed_by(node, claim, groups, claim));
  for (const auto& group : groups) {
    if (room == 0) break;
    room = std::min(room, allowed_by(node, group.claim, groups, claim));
  }
  return room;
}

SharedNode emptied(const SharedNode& node, bool with_unhealthy) {
  auto empty = node;
  empty.claims.clear();
  empty.requested = {};
  empty.held = 0;
  empty.advertised = 0;
  for (auto& gpu : empty.gpus) {
    gpu.free = with_unhealthy ? gpu.size.count : gpu.healthy_slices;
    empty.advertised += gpu.free;
  }
  return empty;
}

}  // namespace gpupool::planning
