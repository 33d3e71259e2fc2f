// SPDX-License-Identifier: Apache-2.0
#include "enforcement/shares.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "enforcement/mebibytes.h"
#include "limiter/region/saturating.h"

namespace gpupool::enforcement {
namespace {

// The position of a device in the region is that in the limits file; the UUID that stands there could be
// forged.
std::optional<std::uint64_t> counted(const CountedContainer& one, std::size_t device) {
  if (!one.use || device >= one.use->devices.size()) return std::nullopt;
  return one.use->devices[device].counted_bytes();
}

}  // namespace

std::vector<Share> shares_of(const std::vector<CountedContainer>& containers) {
  std::map<std::tuple<std::string, std::string, std::string>, Share> shares;  // by GPU, namespace and pod
  for (const CountedContainer& one : containers) {
    for (std::size_t i = 0; i < one.container.devices.size(); ++i) {
      const Container::Device& device = one.container.devices[i];
      if (device.limit_mib <= 0) continue;
      const auto [at, is_new] = shares.try_emplace({device.uuid, one.container.ns, one.container.pod});
      Share& share = at->second;
      if (is_new) {
        share = {one.container.ns, one.container.pod, one.container.pod_uid, device.uuid, 0, 0, 0, false};
      }
      share.limit_bytes += bytes_of_mib(device.limit_mib);
      const auto more = counted(one, i);
      share.counted_bytes = share.counted_bytes && more
                                ? std::optional(limiter::add_up(*share.counted_bytes, *more))
                                : std::nullopt;
      share.tolerance_bytes = std::max(share.tolerance_bytes, bytes_of_mib(device.enforcement.tolerance_mib));
      share.end = device.enforcement.on_excess == settings::OnExcess::kEnd;
    }
  }
  std::vector<Share> list;
  list.reserve(shares.size());
  for (auto& [key, share] : shares) list.push_back(std::move(share));
  return list;
}

std::vector<Holder> holders_of(const std::vector<CountedContainer>& containers) {
  std::vector<Holder> holders;
  for (const CountedContainer& one : containers) {
    if (!one.use) continue;
    Holder holder{one.container.region, {}};
    const std::size_t count = std::min(one.use->devices.size(), one.container.devices.size());
    for (std::size_t i = 0; i < count; ++i) {
      const RegionDeviceUse& use = one.use->devices[i];
      holder.devices.push_back({one.container.devices[i].uuid, use.used_bytes(), use.waiting_bytes,
                                use.waiting_since, use.wait_ticket, use.refused_ticket});
    }
    holders.push_back(std::move(holder));
  }
  return holders;
}

}  // namespace gpupool::enforcement
