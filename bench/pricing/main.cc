// SPDX-License-Identifier: Apache-2.0
// bench_pricing [--seeds N]: what an owner earns with fixed prices and with one that follows demand, on
// synthetic demand. Prints JSON.
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "bench/pricing/market.h"
#include "bench/support/arguments.h"

namespace {

using namespace gpupool;
using namespace gpupool::bench::pricing;
using planning::Price;

constexpr double kLoads[] = {0.7, 1.5, 3.0};
constexpr Price kGridStep = 50'000;
constexpr Price kGridEnd = 3'000'000;
constexpr Price kCheap = 600'000;
constexpr Price kFirst = 1'000'000;
constexpr planning::DemandPolicy kPolicy{200'000, 3'000'000, kCost, 10};

class Fixed : public Pricing {
 public:
  explicit Fixed(Price price) : price_(price) {}
  std::vector<Price> prices(const std::vector<planning::Bid>& /*bids*/, unsigned tenants) override {
    return std::vector<Price>(tenants, price_);
  }

 private:
  Price price_;
};

// One price for all, or for each tenant one from the others' bids.
class Leader : public Pricing {
 public:
  Leader(std::int64_t gpus, bool others_alone) : capacity_(gpus * kWindow), others_alone_(others_alone) {}
  std::vector<Price> prices(const std::vector<planning::Bid>& bids, unsigned tenants) override {
    now_.resize(tenants, kFirst);
    if (!others_alone_) {
      std::ranges::fill(now_, moved(now_[0], bids, std::nullopt));
      return now_;
    }
    for (unsigned tenant = 0; tenant < tenants; ++tenant) now_[tenant] = moved(now_[tenant], bids, tenant);
    return now_;
  }

 private:
  Price moved(Price now, const std::vector<planning::Bid>& bids, std::optional<std::uint64_t> without) const {
    return planning::next_price(now, planning::best_price(bids, capacity_, kPolicy, without), kPolicy);
  }

  std::int64_t capacity_;
  bool others_alone_;
  std::vector<Price> now_;
};

struct Mean {
  double profit = 0;
  double use = 0;
  double welfare = 0;
  void add(const Outcome& outcome, double seeds) {
    profit += outcome.profit / seeds;
    use += outcome.use / seeds;
    welfare += outcome.welfare / seeds;
  }
  nlohmann::json json() const { return {{"profit", profit}, {"use", use}, {"welfare", welfare}}; }
};

// The best fixed price is the one of the largest mean profit: found afterwards, with all demand known.
nlohmann::json compare(double load, int seeds) {
  std::map<Price, Mean> fixed;
  Mean leader;
  Mean others;
  nlohmann::json series;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Demand demand{.load = load, .seed = static_cast<std::uint64_t>(seed)};
    const auto jobs = make_demand(demand);
    for (Price price = 2 * kGridStep; price <= kGridEnd; price += kGridStep) {
      Fixed pricing(price);
      fixed[price].add(play_market(jobs, demand, pricing), seeds);
    }
    Leader one(demand.gpus, false);
    const auto outcome = play_market(jobs, demand, one);
    leader.add(outcome, seeds);
    if (seed == 1) series = {{"price", outcome.price}, {"used", outcome.used}};
    Leader each(demand.gpus, true);
    others.add(play_market(jobs, demand, each), seeds);
  }
  const auto best =
      std::ranges::max_element(fixed, {}, [](const auto& entry) { return entry.second.profit; });
  nlohmann::json curve = nlohmann::json::array();
  for (const auto& [price, mean] : fixed) curve.push_back({static_cast<double>(price) / kMicro, mean.profit});
  return {{"load", load},
          {"best fixed price", static_cast<double>(best->first) / kMicro},
          {"best fixed", best->second.json()},
          {"cheap", fixed[kCheap].json()},
          {"leader", leader.json()},
          {"leader, others' bids alone", others.json()},
          {"fixed", std::move(curve)},
          {"series", std::move(series)}};
}

// What the first tenant gains if it alone bids less than its jobs are worth: [percent of it, gain as a
// factor].
nlohmann::json shade(double load, int seeds, bool others_alone) {
  nlohmann::json rows = nlohmann::json::array();
  double honest = 0;
  for (const int percent : {100, 90, 80, 70, 60, 50}) {
    double surplus = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      const Demand demand{.load = load, .seed = static_cast<std::uint64_t>(seed)};
      auto jobs = make_demand(demand);
      for (auto& job : jobs) {
        if (job.tenant == 0) job.bid = job.value * percent / 100;
      }
      Leader pricing(demand.gpus, others_alone);
      surplus += play_market(jobs, demand, pricing).surplus[0];
    }
    if (percent == 100) honest = surplus;
    rows.push_back({percent, surplus / honest});
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const gpupool::bench::Arguments arguments(argc, argv);
  const int seeds = static_cast<int>(arguments.number("seeds", 5));
  nlohmann::json output{{"loads", nlohmann::json::array()}, {"shading", nlohmann::json::array()}};
  for (const double load : kLoads) {
    output["loads"].push_back(compare(load, seeds));
    output["shading"].push_back({{"load", load},
                                 {"one price", shade(load, seeds, false)},
                                 {"others' bids alone", shade(load, seeds, true)}});
  }
  std::puts(output.dump().c_str());
}
