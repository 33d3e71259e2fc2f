// SPDX-License-Identifier: Apache-2.0
#include "planning/pricing/price_list.h"

#include <algorithm>
#include <set>

#include "planning/pricing/pool_price.h"

namespace gpupool::planning {

std::optional<PriceList> prices_at(const api::GpuPool& pool, base::WallTime at) {
  const auto& price = pool.spec.price;
  if (!price || !check_price(*price).empty()) return std::nullopt;
  std::set<std::string> names;
  const auto note = [&](const std::vector<api::ModelPrice>& models) {
    for (const auto& model : models) names.insert(model.model);
  };
  note(price->models);
  for (const auto& change : price->schedule) note(change.models);
  PriceList list{price->currency, {}, price_of(pool, "", at)};
  for (const auto& name : names) list.models[name] = price_of(pool, name, at);
  return list;
}

base::Micros highest_of(const PriceList& prices) {
  auto highest = prices.others;
  for (const auto& [model, price] : prices.models) highest = std::max(highest, price);
  return highest;
}

bool PriceLimit::allows(std::string_view model) const {
  return std::ranges::binary_search(models, model) == only;
}

PriceLimit price_limit(const PriceList& prices, const std::string& most) {
  const auto limit = base::parse_micros(most);
  if (!limit) return {};
  PriceLimit found;
  found.only = prices.others > *limit;
  for (const auto& [model, price] : prices.models) {
    if ((price <= *limit) == found.only) found.models.push_back(model);
  }
  if (found.narrow())
    found.text = "at most " + most + " " + prices.currency + " per GPU-hour (spec.maxPricePerGpuHour)";
  return found;
}

}  // namespace gpupool::planning
