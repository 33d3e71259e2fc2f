// SPDX-License-Identifier: Apache-2.0
#include "planning/slices/choose_slices.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "planning/slices/shared_node.h"
#include "planning/slices/slice_size.h"

namespace gpupool::planning {
namespace {

// A node with room for at least one worker.
struct Place {
  const SharedNode* node = nullptr;
  std::int64_t room = 0;  // workers
  std::int64_t free = 0;  // slices
};

// Slices of each worker, and the GPU model if the job must have one model. Only nodes of one kind are used
// together.
using Kind = std::pair<std::int64_t, std::string>;

std::int64_t free_slices(const SharedNode& node) {
  std::int64_t free = 0;
  for (const auto& gpu : node.gpus) free += gpu.free;
  for (const auto& claim : node.claims) free -= claim.slices;
  return free;
}

// Number of workers for which the node has CPU, memory and the like.
std::int64_t room_beside(const SharedNode& node, const Resources& requests) {
  auto held = node.requested;
  held += node.node.held_by_foreign();
  return pods_that_fit(node.node.allocatable, held, requests);
}

std::int64_t room_for_claim(const SharedNode& node, const Claim& claim, const Resources& requests) {
  return std::min(room_for(node, claim), room_beside(node, requests));
}

std::map<Kind, std::vector<Place>> by_kind(const std::vector<const SharedNode*>& candidates,
                                           const SliceNeed& need, bool one_model) {
  std::map<Kind, std::vector<Place>> kinds;
  for (const auto* node : candidates) {
    const auto claim = claim_on(*node, need);
    if (!claim) continue;
    const auto room = room_for_claim(*node, *claim, need.requests);
    if (room == 0) continue;
    kinds[{claim->slices, one_model ? node->node.model : ""}].push_back({node, room, free_slices(*node)});
  }
  return kinds;
}

SlicePlacement placement(std::int64_t slices, const std::vector<Place>& places, std::int64_t each) {
  SlicePlacement chosen;
  chosen.slices = slices;
  for (const auto& place : places)
    chosen.nodes.push_back({place.node->node.name, place.node->node.uid, each});
  std::sort(chosen.nodes.begin(), chosen.nodes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return chosen;
}

std::int64_t workers_on_each(std::int64_t workers, std::size_t nodes) {
  const auto count = static_cast<std::int64_t>(nodes);
  return (workers + count - 1) / count;
}

std::optional<SlicePlacement> fewest_nodes(std::int64_t slices, std::vector<Place> places,
                                           std::int64_t workers) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.free, a.node->node.name) < std::tie(b.free, b.node->node.name);
  });
  const auto most = std::min(places.size(), static_cast<std::size_t>(workers));
  for (std::size_t count = 1; count <= most; ++count) {
    const auto each = workers_on_each(workers, count);
    std::vector<Place> chosen;
    for (const auto& place : places) {
      if (place.room >= each && chosen.size() < count) chosen.push_back(place);
    }
    if (chosen.size() == count) return placement(slices, chosen, each);
  }
  return std::nullopt;
}

// A placement, and in how many groups its nodes are, from far to near.
struct NearPlacement {
  std::vector<std::int64_t> groups;
  SlicePlacement placement;
  std::pair<std::vector<std::int64_t>, std::size_t> rank() const { return {groups, placement.nodes.size()}; }
};

std::optional<NearPlacement> fewest_groups(std::int64_t slices, const std::vector<Place>& places,
                                           std::int64_t workers, const api::Near& near) {
  const auto place = [&](const Indexes& nodes) {
    std::vector<Place> some;
    some.reserve(nodes.size());
    for (const auto index : nodes) some.push_back(places[index]);
    return fewest_nodes(slices, std::move(some), workers);
  };
  std::vector<NodeSlots> nodes;
  nodes.reserve(places.size());
  for (const auto& each : places) nodes.push_back({&each.node->node, each.room});
  const auto choice = choose_near(
      near, nodes, workers, [&](const Indexes& some) -> std::optional<std::pair<std::int64_t, std::int64_t>> {
        const auto placed = place(some);
        if (!placed) return std::nullopt;
        return std::pair(static_cast<std::int64_t>(placed->nodes.size()), std::int64_t{0});
      });
  if (!choice) return std::nullopt;
  return NearPlacement{choice->groups, *place(choice->nodes)};
}

}  // namespace

std::optional<SlicePlacement> choose_slices(const std::vector<const SharedNode*>& candidates,
                                            const SliceNeed& need, std::int64_t workers, bool one_model,
                                            const api::Near& near) {
  std::optional<NearPlacement> best;
  for (auto& [kind, places] : by_kind(candidates, need, one_model)) {
    std::optional<NearPlacement> choice;
    if (!near.labels.empty()) {
      choice = fewest_groups(kind.first, places, workers, near);
    } else if (auto placed = fewest_nodes(kind.first, std::move(places), workers)) {
      choice = {{}, *std::move(placed)};
    }
    if (choice && (!best || choice->rank() < best->rank())) best = std::move(choice);
  }
  return best ? std::optional(std::move(best->placement)) : std::nullopt;
}

std::int64_t room_on(const SharedNode& node, const SliceNeed& need) {
  const auto claim = claim_on(node, need);
  return claim ? room_for_claim(node, *claim, need.requests) : 0;
}

std::optional<SlicePlacement> place_slices(const std::vector<const SharedNode*>& nodes, const SliceNeed& need,
                                           std::int64_t workers, bool one_model) {
  const auto kinds = by_kind(nodes, need, one_model);
  if (kinds.size() != 1 || kinds.begin()->second.size() != nodes.size()) return std::nullopt;
  const auto each = workers_on_each(workers, nodes.size());
  const auto& [kind, places] = *kinds.begin();
  if (std::any_of(places.begin(), places.end(), [&](const Place& place) { return place.room < each; })) {
    return std::nullopt;
  }
  return placement(kind.first, places, each);
}

}  // namespace gpupool::planning
