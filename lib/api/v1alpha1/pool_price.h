// SPDX-License-Identifier: Apache-2.0
// What the GPUs of a pool cost (docs/billing.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/boxed.h"
#include "base/clock.h"
#include "base/json.h"

namespace gpupool::api {

// The price of one GPU-hour of this model. Prices are decimal numbers (base::parse_micros).
struct ModelPrice {
  std::string model;
  std::string per_gpu_hour;
  bool operator==(const ModelPrice&) const = default;
};

// Prices from a moment on.
struct PriceChange {
  std::optional<base::WallTime> from;
  std::string per_gpu_hour;
  std::vector<ModelPrice> models;
  bool operator==(const PriceChange&) const = default;
};

// The price follows demand (docs/pricing.md), from per_gpu_hour on. Prices as in ModelPrice.
struct DemandPrice {
  std::string floor;
  std::string ceiling;
  std::string cost = "0";          // of a GPU-hour to its owner
  std::int64_t step_percent = 10;  // most that the price changes at once
  std::int64_t every_minutes = 15;
  bool operator==(const DemandPrice&) const = default;
};

// status.price of a pool, only with spec.price.demand.
struct PoolPriceNow {
  std::string per_gpu_hour;
  std::string best;       // at which the owner would have earned most; the price moves there
  std::int64_t bids = 0;  // number of jobs that said what they pay at most
  std::optional<base::WallTime> decided_at;
  bool operator==(const PoolPriceNow&) const = default;
};

// spec.price of a pool: its jobs are billed. A lease keeps the prices that it began with.
struct PoolPrice {
  std::string currency;      // ISO 4217: EUR
  std::string per_gpu_hour;  // of models that are not named
  std::vector<ModelPrice> models;
  std::int64_t fee = 0;               // percent that the platform keeps; the rest is of the node's owner
  std::vector<PriceChange> schedule;  // the last one that has begun holds
  base::Boxed<DemandPrice> demand;    // without models and schedule
  bool operator==(const PoolPrice&) const = default;
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::ModelPrice> {
  using T = api::ModelPrice;
  static constexpr auto fields = std::array{field<&T::model>("model"), field<&T::per_gpu_hour>("perGpuHour")};
};
template <>
struct Schema<api::PriceChange> {
  using T = api::PriceChange;
  static constexpr auto fields =
      std::array{field<&T::from>("from"), field<&T::per_gpu_hour>("perGpuHour"), field<&T::models>("models")};
};
template <>
struct Schema<api::DemandPrice> {
  using T = api::DemandPrice;
  static constexpr auto fields =
      std::array{field<&T::floor>("floor"), field<&T::ceiling>("ceiling"), field<&T::cost>("cost"),
                 field<&T::step_percent>("stepPercent"), field<&T::every_minutes>("everyMinutes")};
};
template <>
struct Schema<api::PoolPriceNow> {
  using T = api::PoolPriceNow;
  static constexpr auto fields = std::array{field<&T::per_gpu_hour>("perGpuHour"), field<&T::best>("best"),
                                            field<&T::bids>("bids"), field<&T::decided_at>("decidedAt")};
};
template <>
struct Schema<api::PoolPrice> {
  using T = api::PoolPrice;
  static constexpr auto fields = std::array{
      field<&T::currency>("currency"), field<&T::per_gpu_hour>("perGpuHour"), field<&T::models>("models"),
      field<&T::fee>("fee"),           field<&T::schedule>("schedule"),       field<&T::demand>("demand")};
};

}  // namespace gpupool::base::json
