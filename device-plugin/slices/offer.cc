// SPDX-License-Identifier: Apache-2.0
#include "slices/offer.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace gpupool::slices {

bool is_mig(const Slice& slice) { return slice.visible != slice.gpu; }

bool same_cut(const std::vector<Offer>& one, const std::vector<Offer>& other) {
  const auto same_slice = [](const Slice& a, const Slice& b) {
    return a.id == b.id && a.visible == b.visible && a.memory_mib == b.memory_mib && a.cores == b.cores;
  };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [&](const Offer& a, const Offer& b) {
    return a.resource == b.resource && a.gpu.limited == b.gpu.limited &&
           std::equal(a.slices.begin(), a.slices.end(), b.slices.begin(), b.slices.end(), same_slice);
  });
}

std::vector<Offer> offers_of(const Table& table, const std::string& uuid) {
  std::vector<Offer> offers;
  for (const Resource& resource : table.resources) {
    const auto gpu = std::find_if(resource.gpus.begin(), resource.gpus.end(),
                                  [&](const SlicedGpu& one) { return one.uuid == uuid; });
    if (gpu == resource.gpus.end()) continue;
    Offer offer{resource.name, *gpu, {}};
    std::copy_if(resource.slices.begin(), resource.slices.end(), std::back_inserter(offer.slices),
                 [&](const Slice& slice) { return slice.gpu == uuid; });
    offers.push_back(std::move(offer));
  }
  return offers;
}

Table assemble(std::vector<Offer> offers, settings::Policy policy) {
  std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return std::tie(a.resource, a.gpu.index, a.gpu.uuid) < std::tie(b.resource, b.gpu.index, b.gpu.uuid);
  });
  Table table;
  for (Offer& offer : offers) {
    if (offer.slices.empty()) continue;
    if (table.resources.empty() || table.resources.back().name != offer.resource) {
      table.resources.push_back({offer.resource, policy, {}, {}});
    }
    Resource& resource = table.resources.back();
    resource.gpus.push_back(offer.gpu);
    std::move(offer.slices.begin(), offer.slices.end(), std::back_inserter(resource.slices));
  }
  return table;
}

}  // namespace gpupool::slices
