// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "planning/demand/demand_price.h"

namespace gpupool::bench::pricing {

// A job of one GPU that waits for a price and a GPU.
struct MarketJob {
  std::int64_t arrival;   // seconds
  std::int64_t seconds;   // that it runs
  planning::Price value;  // of a GPU-hour to its owner
  planning::Price bid;    // what its owner says that it is
  unsigned tenant;
};

struct Demand {
  double load;  // GPU-hours asked for as a part of what there is
  std::int64_t gpus = 64;
  int days = 28;
  unsigned tenants = 8;
  std::uint64_t seed = 1;
};

// Poisson arrivals, by day four times as many as by night; durations log-normal with mean 4 h; values
// log-normal with median 1.0. The same for the same Demand.
std::vector<MarketJob> make_demand(const Demand& demand);

// Sets prices. Called once every kStep seconds of simulated time.
class Pricing {
 public:
  virtual ~Pricing() = default;
  // The price for each tenant, of `tenants`, from now on. bids: jobs that came in the last kWindow seconds.
  virtual std::vector<planning::Price> prices(const std::vector<planning::Bid>& bids, unsigned tenants) = 0;
};

inline constexpr std::int64_t kStep = 900;
inline constexpr std::int64_t kWindow = 6 * 3600;
inline constexpr std::int64_t kPatience = 12 * 3600;
inline constexpr double kMicro = 1e6;  // a Price of 1.00
inline constexpr planning::Price kCost = 150'000;

struct Outcome {
  double profit = 0;   // of the owner, in units of the currency: income less kCost for each sold GPU-hour
  double use = 0;      // part of the GPU-hours sold
  double welfare = 0;  // value of what ran less kCost for each of its GPU-hours
  std::vector<double> surplus;  // by tenant: value less price of what ran
  std::vector<double> price;    // of the first tenant, by step
  std::vector<double> used;     // part of the GPUs, by step
};

// Plays the demand: a job starts at the first step with a GPU free and a price of at most its bid, first come
// first served; it gives up after kPatience. A job keeps the price that it began with.
Outcome play_market(const std::vector<MarketJob>& jobs, const Demand& demand, Pricing& pricing);

}  // namespace gpupool::bench::pricing
