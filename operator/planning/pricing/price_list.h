// SPDX-License-Identifier: Apache-2.0
// Which GPUs a job with spec.maxPricePerGpuHour pays for. Pure.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "base/money.h"

namespace gpupool::planning {

// The prices of a pool at one moment, in millionths for a GPU-hour.
struct PriceList {
  std::string currency;
  std::map<std::string, base::Micros> models;
  base::Micros others = 0;  // of models that are not named
};

// Returns nothing for a pool without a price, or with one that is not valid.
std::optional<PriceList> prices_at(const api::GpuPool& pool, base::WallTime at);

// The highest price of the list.
base::Micros highest_of(const PriceList& prices);

// The GPU models that cost at most what a job pays. By default all. Comparable, because jobs that ask the
// same get one answer.
struct PriceLimit {
  std::vector<std::string> models =
      {};                 // in order: those that are too expensive; with `only`, those that are not
  bool only = false;      // all other models are too expensive
  std::string text = {};  // "at most 1.50 EUR per GPU-hour (spec.maxPricePerGpuHour)"
  auto operator<=>(const PriceLimit&) const = default;

  bool narrow() const { return only || !models.empty(); }
  bool allows(std::string_view model) const;
};

// most: spec.maxPricePerGpuHour; not valid: any price.
PriceLimit price_limit(const PriceList& prices, const std::string& most);

}  // namespace gpupool::planning
