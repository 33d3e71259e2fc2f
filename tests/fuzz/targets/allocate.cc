// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "allocation/allocate.h"
#include "allocation/prefer.h"
#include "nvidia/container_access.h"
#include "slices/offers_in_use.h"
#include "slices/saved_table.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace allocation = gpupool::allocation;
namespace settings = gpupool::settings;
namespace slices = gpupool::slices;

namespace {

using Ids = std::vector<std::string>;

void check_grant(const slices::Resource& resource, const Ids& ids) {
  settings::Settings all;
  all.passing = {true, true, true, true};
  const auto ask = [&](const Ids& wanted) {
    return allocation::allocate(resource, wanted, all, {"/limits", "/lib/limiter.so"},
                                *gpupool::nvidia::make_container_access());
  };
  const auto grant = ask(ids);
  if (!grant) return gpupool::fuzz::require_explained(grant.error());
  const auto again = ask(ids);
  require(again && *again == *grant, "same IDs, same answer");
  require(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size(), "no slice twice");
  const auto turned = ask({ids.rbegin(), ids.rend()});
  require(turned && *turned == *grant, "the order of the IDs does not matter");
}

void check_preference(const slices::Resource& resource, const Ids& available, std::size_t size) {
  const Ids must(available.begin(), available.begin() + static_cast<std::ptrdiff_t>(available.size() / 4));
  const auto chosen = allocation::prefer(resource, available, must, size, {});
  const std::set<std::string> offered(available.begin(), available.end());
  const std::set<std::string> once(chosen.begin(), chosen.end());
  require(once.size() == chosen.size(), "none is preferred twice");
  require(chosen.size() <= std::max(size, must.size()), "no more than asked for");
  for (const auto& id : chosen) require(offered.contains(id), "only what is available");
}

}  // namespace

// The table, a line of JSON, as the plugin saved it; then device IDs as the kubelet sends them, a line each.
void fuzz_allocate(std::string_view input) {
  const auto table = slices::restore(gpupool::fuzz::take_line(input));
  const auto ids = gpupool::fuzz::split(input, '\n');
  gpupool::inventory::Gpu gpu;
  gpu.uuid = ids.front();
  slices::offers_in_use(gpu, {}, {ids.begin(), ids.end()});
  if (!table) return gpupool::fuzz::require_explained(table.error());
  const auto saved = slices::save(*table);
  const auto again = slices::restore(saved);
  require(again && slices::save(*again) == saved, "parse(print(x)) == x");
  for (auto resource : table->resources) {
    for (const auto policy :
         {settings::Policy::kPack, settings::Policy::kSpread, settings::Policy::kDistinct}) {
      resource.policy = policy;
      check_grant(resource, ids);
      check_preference(resource, ids, ids.size() / 2);
    }
  }
}
