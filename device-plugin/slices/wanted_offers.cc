// SPDX-License-Identifier: Apache-2.0
#include "slices/wanted_offers.h"

#include <algorithm>
#include <map>

#include "slices/cut.h"
#include "slices/notes.h"

namespace gpupool::slices {
namespace {

constexpr settings::Split kWhole{.count = 1, .memory_scaling = 1000, .core_scaling = 1000};

Offer sliced(const inventory::Gpu& gpu, const settings::Settings& settings, const ResourceNames& names,
             const settings::Split& split, const Cut& cut) {
  const bool whole = split == kWhole;
  Offer offer{settings.resource_name, physical(gpu), {}};
  if (offer.resource.empty()) offer.resource = whole ? names.whole : kSliceResource;
  offer.gpu.split_count = cut.count;
  offer.gpu.limited = !whole;
  for (std::int64_t ordinal = 0; ordinal < cut.count; ++ordinal) {
    Slice slice;
    slice.id = whole ? gpu.uuid : slice_id(gpu.uuid, ordinal);
    slice.gpu = gpu.uuid;
    slice.visible = gpu.uuid;
    slice.ordinal = ordinal;
    slice.memory_mib = cut.memory_mib;
    slice.cores = cut.cores;
    offer.slices.push_back(std::move(slice));
  }
  return offer;
}

std::string mig_resource(const ResourceNames& names, std::string profile) {
  std::replace(profile.begin(), profile.end(), '+', '.');
  return names.partition_prefix + profile;
}

// The hardware limits a MIG instance, and its container sees nothing else: it has 100 percent of the cores it
// sees.
std::vector<Offer> mig_offers(const inventory::Gpu& gpu, const ResourceNames& names) {
  std::map<std::string, Offer> by_resource;
  std::int64_t ordinal = 0;
  for (const inventory::MigInstance& instance : gpu.mig_instances) {
    const std::string name = mig_resource(names, instance.profile);
    Offer& offer = by_resource.try_emplace(name, Offer{name, physical(gpu), {}}).first->second;
    Slice slice;
    slice.id = instance.uuid;
    slice.gpu = gpu.uuid;
    slice.visible = instance.uuid;
    slice.ordinal = ordinal++;
    slice.memory_mib = instance.memory_mib;
    slice.cores = 100;
    offer.slices.push_back(std::move(slice));
  }
  std::vector<Offer> offers;
  for (auto& [name, offer] : by_resource) {
    offer.gpu.split_count = static_cast<std::int64_t>(offer.slices.size());
    offers.push_back(std::move(offer));
  }
  return offers;
}

bool ids_fit(const std::vector<Offer>& offers) {
  return std::all_of(offers.begin(), offers.end(), [](const Offer& offer) {
    return std::all_of(offer.slices.begin(), offer.slices.end(),
                       [](const Slice& slice) { return slice.id.size() <= kMaxIdLength; });
  });
}

}  // namespace

SlicedGpu physical(const inventory::Gpu& gpu) {
  SlicedGpu result;
  result.uuid = gpu.uuid;
  result.index = gpu.index;
  result.minor = gpu.minor;
  result.numa_node = gpu.numa_node;
  return result;
}

base::Result<std::vector<Offer>> wanted_offers(const inventory::Gpu& gpu, const settings::Settings& settings,
                                               const ResourceNames& names, const std::string& node,
                                               std::vector<std::string>& notes) {
  std::vector<Offer> offers;
  if (gpu.mig_enabled && !settings.mig) {
    notes.push_back(describe(gpu) + " is in MIG mode and left out; 'mig: true' advertises its instances");
    return offers;
  }
  if (gpu.mig_enabled) {
    offers = mig_offers(gpu, names);
    if (offers.empty()) notes.push_back(describe(gpu) + " is in MIG mode and has no instances");
  } else {
    const settings::Split split = split_of(settings, node, gpu);
    const auto parts = cut(gpu.memory_mib, split);
    if (!parts) return base::in_context(parts.error(), describe(gpu));
    if (std::string note = cut_note(gpu, split, *parts); !note.empty()) notes.push_back(std::move(note));
    offers.push_back(sliced(gpu, settings, names, split, *parts));
  }
  if (ids_fit(offers)) return offers;
  notes.push_back(describe(gpu) + " is left out: the kubelet takes device IDs of 63 characters at most");
  return std::vector<Offer>{};
}

}  // namespace gpupool::slices
