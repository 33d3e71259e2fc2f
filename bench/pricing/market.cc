// SPDX-License-Identifier: Apache-2.0
#include "bench/pricing/market.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <random>

namespace gpupool::bench::pricing {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;
constexpr double kMeanHours = 4;
constexpr double kHoursSigma = 0.8;
constexpr double kValueSigma = 0.5;
// From 8 to 20 o'clock four times as many jobs come; the mean is 1.
constexpr double kByDay = 1.6;
constexpr double kByNight = 0.4;

double arrivals_factor(std::int64_t at) {
  const auto hour = at % kDay / kHour;
  return hour >= 8 && hour < 20 ? kByDay : kByNight;
}

double worth(planning::Price price, std::int64_t seconds) {
  return static_cast<double>(price) / kMicro * static_cast<double>(seconds) / static_cast<double>(kHour);
}

class Market {
 public:
  Market(const std::vector<MarketJob>& jobs, const Demand& demand, Pricing& pricing)
      : jobs_(jobs), demand_(demand), pricing_(pricing) {
    outcome_.surplus.resize(demand.tenants);
  }

  Outcome play() {
    const std::int64_t end = demand_.days * kDay;
    for (std::int64_t now = 0; now < end; now += kStep) step(now, end);
    outcome_.use = sold_seconds_ / static_cast<double>(demand_.gpus * end);
    return std::move(outcome_);
  }

 private:
  void step(std::int64_t now, std::int64_t end) {
    while (!ends_.empty() && ends_.top() <= now) ends_.pop();
    for (; next_ < jobs_.size() && jobs_[next_].arrival <= now; ++next_) {
      waiting_.push_back(&jobs_[next_]);
      recent_.push_back(&jobs_[next_]);
    }
    while (!recent_.empty() && recent_.front()->arrival + kWindow < now) recent_.pop_front();
    std::erase_if(waiting_, [now](const MarketJob* job) { return job->arrival + kPatience < now; });
    const auto prices = pricing_.prices(bids(now), demand_.tenants);
    start_jobs(now, end, prices);
    outcome_.price.push_back(static_cast<double>(prices.front()) / kMicro);
    outcome_.used.push_back(static_cast<double>(ends_.size()) / static_cast<double>(demand_.gpus));
  }

  std::vector<planning::Bid> bids(std::int64_t now) const {
    std::vector<planning::Bid> bids;
    bids.reserve(recent_.size() + waiting_.size());
    for (const auto* job : recent_) bids.push_back({job->tenant, job->bid, job->seconds});
    for (const auto* job : waiting_) {
      if (job->arrival + kWindow < now) bids.push_back({job->tenant, job->bid, job->seconds});
    }
    return bids;
  }

  void start_jobs(std::int64_t now, std::int64_t end, const std::vector<planning::Price>& prices) {
    std::erase_if(waiting_, [&](const MarketJob* job) {
      const auto price = prices[job->tenant];
      if (job->bid < price || static_cast<std::int64_t>(ends_.size()) >= demand_.gpus) return false;
      ends_.push(now + job->seconds);
      // What lies behind the end is not counted, for any policy.
      const auto seconds = std::min(job->seconds, end - now);
      sold_seconds_ += static_cast<double>(seconds);
      outcome_.profit += worth(price - kCost, seconds);
      outcome_.welfare += worth(job->value - kCost, seconds);
      outcome_.surplus[job->tenant] += worth(job->value - price, seconds);
      return true;
    });
  }

  const std::vector<MarketJob>& jobs_;
  const Demand& demand_;
  Pricing& pricing_;
  Outcome outcome_;
  std::size_t next_ = 0;
  double sold_seconds_ = 0;
  std::vector<const MarketJob*> waiting_;
  std::deque<const MarketJob*> recent_;
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> ends_;
};

}  // namespace

std::vector<MarketJob> make_demand(const Demand& demand) {
  std::mt19937_64 random(demand.seed);
  const double mean_gap =
      kMeanHours * static_cast<double>(kHour) / (demand.load * static_cast<double>(demand.gpus));
  std::exponential_distribution<double> gap(1 / mean_gap);
  std::lognormal_distribution<double> hours(std::log(kMeanHours) - kHoursSigma * kHoursSigma / 2,
                                            kHoursSigma);
  std::lognormal_distribution<double> value(0, kValueSigma);
  std::vector<MarketJob> jobs;
  const auto end = static_cast<double>(demand.days * kDay);
  for (double at = 0; at < end;) {
    at += gap(random) / arrivals_factor(static_cast<std::int64_t>(at));
    MarketJob job{};
    job.arrival = static_cast<std::int64_t>(at);
    job.seconds = std::max<std::int64_t>(60, std::llround(hours(random) * static_cast<double>(kHour)));
    job.value = std::llround(value(random) * kMicro);
    job.bid = job.value;
    job.tenant = static_cast<unsigned>(random() % demand.tenants);
    jobs.push_back(job);
  }
  return jobs;
}

Outcome play_market(const std::vector<MarketJob>& jobs, const Demand& demand, Pricing& pricing) {
  return Market(jobs, demand, pricing).play();
}

}  // namespace gpupool::bench::pricing
