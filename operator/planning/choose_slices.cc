#include "planning/choose_slices.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace gpupool::planning {
namespace {

// A node that holds at least one worker.
struct Place {
  const SharedNode* node = nullptr;
  std::int64_t room = 0;
  std::int64_t free = 0;  // slices
};

// Nodes that can be in one placement: slices of each worker, and the model where that matters.
using Kind = std::pair<std::int64_t, std::string>;

std::int64_t free_slices(const SharedNode& node) {
  std::int64_t free = 0;
  for (const auto& gpu : node.gpus) free += gpu.free;
  for (const auto& claim : node.claims) free -= claim.slices;
  return free;
}

std::map<Kind, std::vector<Place>> by_kind(const std::vector<const SharedNode*>& candidates,
                                           const SliceNeed& need, bool one_model) {
  std::map<Kind, std::vector<Place>> kinds;
  for (const auto* node : candidates) {
    const auto claim = claim_on(*node, need);
    if (!claim) continue;
    const auto room = room_for(*node, *claim);
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

}  // namespace

std::optional<SlicePlacement> choose_slices(const std::vector<const SharedNode*>& candidates,
                                            const SliceNeed& need, std::int64_t workers, bool one_model) {
  std::optional<SlicePlacement> best;
  for (auto& [kind, places] : by_kind(candidates, need, one_model)) {
    auto choice = fewest_nodes(kind.first, std::move(places), workers);
    if (choice && (!best || choice->nodes.size() < best->nodes.size())) best = std::move(choice);
  }
  return best;
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
