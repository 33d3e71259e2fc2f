// SPDX-License-Identifier: Apache-2.0
#include "slices/plan_table.h"

#include <algorithm>
#include <iterator>

#include "slices/cut.h"
#include "slices/match.h"
#include "slices/notes.h"
#include "slices/offer.h"
#include "slices/offers_in_use.h"
#include "slices/wanted_offers.h"

namespace gpupool::slices {
namespace {

constexpr const char* kEnds = "its GPU is being cut anew; this slice ends when all of the old cut are free";

// Calls `see` for every slice of the offers until it says true.
template <class See>
bool any_slice(const std::vector<Offer>& offers, See see) {
  return std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
    return std::any_of(offer.slices.begin(), offer.slices.end(), see);
  });
}

bool any_mig(const std::vector<Offer>& offers) { return any_slice(offers, is_mig); }

void set_health(std::vector<Offer>& offers, const std::string& reason) {
  for (Offer& offer : offers) {
    for (Slice& slice : offer.slices) {
      slice.healthy = reason.empty();
      slice.unhealthy_reason = reason;
    }
  }
}

class Planner {
 public:
  Planner(const settings::Settings& settings, const Circumstances& circumstances)
      : settings_(settings), now_(circumstances) {}

  base::Result<Planned> plan(const inventory::Inventory& inventory) {
    for (const inventory::Gpu& gpu : inventory.gpus) {
      auto wanted = wanted_offers(gpu, settings_, now_.names, now_.node, planned_.notes);
      if (!wanted) return tl::unexpected<base::Error>(wanted.error());
      add_listed(gpu, std::move(*wanted));
    }
    add_unlisted(inventory);
    note_useless_overrides(inventory);
    planned_.table = assemble(std::move(offers_), settings_.policy);
    return std::move(planned_);
  }

 private:
  bool used(const Slice& slice) const { return now_.in_use.contains(slice.id); }

  std::string reason_of(const std::string& uuid) const {
    const auto found = now_.unhealthy.find(uuid);
    return found == now_.unhealthy.end() ? std::string() : found->second;
  }

  void add(std::vector<Offer> offers) {
    std::move(offers.begin(), offers.end(), std::back_inserter(offers_));
  }

  void add_listed(const inventory::Gpu& gpu, std::vector<Offer> wanted) {
    std::vector<Offer> old = offers_of(now_.previous, gpu.uuid);
    if (old.empty()) old = offers_in_use(gpu, wanted, now_.in_use);
    const bool keep = must_keep(old, wanted);
    if (keep) {
      retire(gpu, old);
    } else {
      old = std::move(wanted);
      set_health(old, reason_of(gpu.uuid));
    }
    for (Offer& offer : old) offer.gpu.enforcement = enforcement_of(settings_, now_.node, gpu);
    add(std::move(old));
  }

  // The new cut may come when no old slice could be allocated since the last table (all of them were
  // unhealthy) and no container holds one now. MIG instances do not depend on each other, so they come and go
  // one by one.
  bool must_keep(const std::vector<Offer>& old, const std::vector<Offer>& wanted) const {
    if (old.empty() || same_cut(old, wanted) || (any_mig(old) && any_mig(wanted))) return false;
    if (!now_.in_use_known) return true;
    return any_slice(old, [&](const Slice& slice) { return slice.healthy || used(slice); });
  }

  void retire(const inventory::Gpu& gpu, std::vector<Offer>& old) {
    planned_.waiting = true;
    std::int64_t held = 0;
    const std::string unhealthy = reason_of(gpu.uuid);
    for (Offer& offer : old) {
      const SlicedGpu before = offer.gpu;
      offer.gpu = physical(gpu);
      offer.gpu.split_count = before.split_count;
      offer.gpu.limited = before.limited;
      for (Slice& slice : offer.slices) {
        const bool stays = used(slice);
        held += stays ? 1 : 0;
        // While podresources cannot be read, only the health of the GPU changes anything.
        const bool was_ending = !now_.in_use_known && slice.unhealthy_reason == kEnds;
        const bool ends = now_.in_use_known ? !stays : was_ending;
        slice.unhealthy_reason = !unhealthy.empty() ? unhealthy : ends ? kEnds : "";
        slice.healthy = slice.unhealthy_reason.empty();
      }
    }
    std::string why = "the kubelet did not say which of them are in use";
    if (now_.in_use_known) why = std::to_string(held) + " of them are in use";
    planned_.notes.push_back(describe(gpu) + " keeps its old slices until all of them are free; " + why);
  }

  void add_unlisted(const inventory::Inventory& inventory) {
    std::set<std::string> done;
    for (const inventory::Gpu& gpu : inventory.gpus) done.insert(gpu.uuid);
    for (const Resource& resource : now_.previous.resources) {
      for (const SlicedGpu& gpu : resource.gpus) {
        if (done.insert(gpu.uuid).second) add_unlisted(gpu);
      }
    }
  }

  void add_unlisted(const SlicedGpu& gpu) {
    std::vector<Offer> old = offers_of(now_.previous, gpu.uuid);
    const std::string why = reason_of(gpu.uuid);
    const bool held = !now_.in_use_known || any_slice(old, [&](const Slice& slice) { return used(slice); });
    if (why.empty() && !held) return;
    set_health(old, why.empty() ? "the driver no longer lists its GPU" : why);
    planned_.notes.push_back("GPU " + std::to_string(gpu.index) + " (" + gpu.uuid +
                             ") is gone; its slices stay listed as unhealthy");
    add(std::move(old));
  }

  // An override without a node may be meant for a GPU of another node, so only overrides of this node are
  // looked at.
  void note_useless_overrides(const inventory::Inventory& inventory) {
    for (std::size_t i = 0; i < settings_.overrides.size(); ++i) {
      const settings::Match& match = settings_.overrides[i].match;
      if (match.node.empty() || match.node != now_.node || inventory.gpus.empty()) continue;
      const bool useful = std::any_of(inventory.gpus.begin(), inventory.gpus.end(),
                                      [&](const auto& gpu) { return matches(match, now_.node, gpu); });
      if (!useful) {
        planned_.notes.push_back("overrides[" + std::to_string(i) +
                                 "] is for this node and matches no GPU of it");
      }
    }
  }

  const settings::Settings& settings_;
  const Circumstances& now_;
  std::vector<Offer> offers_;
  Planned planned_;
};

}  // namespace

base::Result<Planned> plan_table(const inventory::Inventory& inventory, const settings::Settings& settings,
                                 const Circumstances& circumstances) {
  return Planner(settings, circumstances).plan(inventory);
}

}  // namespace gpupool::slices
