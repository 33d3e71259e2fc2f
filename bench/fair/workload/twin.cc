// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/workload/twin.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/fair/workload/random.h"

namespace gpupool::bench::fair {
namespace {

constexpr Seconds kHour = 3600;
constexpr Seconds kLongest = 4 * kDay;
constexpr std::int64_t kAllDemand = 3963;  // of kProfiles, below

struct Size {
  std::int64_t gpus;
  std::int64_t per_mille;  // of the jobs
  double mean;             // of ln(run time in seconds)
  double deviation;
};
constexpr std::array<Size, 6> kSizes{{{1, 649, 9.97, 2.31},
                                      {2, 57, 10.95, 2.21},
                                      {4, 134, 9.81, 2.56},
                                      {8, 138, 9.24, 2.75},
                                      {16, 18, 8.2, 2.8},
                                      {32, 4, 8.2, 2.8}}};

// demand: in tenths of a GPU, on average. burst: percent of the jobs that follow the one before within 10 s.
// spread: deviation of ln(gap between two bursts). Together they give gaps a coefficient of variation from
// 1.7 to 8.7.
struct Profile {
  std::int64_t demand;
  std::int64_t burst;
  double spread;
};
constexpr std::array<Profile, 11> kProfiles{{{960, 55, 1.2},
                                             {810, 82, 1.6},
                                             {700, 40, 1.1},
                                             {590, 70, 1.4},
                                             {230, 30, 1.0},
                                             {180, 60, 1.3},
                                             {160, 45, 1.2},
                                             {140, 75, 1.5},
                                             {120, 50, 1.1},
                                             {70, 35, 1.0},
                                             {3, 30, 1.0}}};

// Arrivals in this hour of the day, in percent of the mean; they add up to 2400.
constexpr std::array<std::int64_t, 24> kHourly{60,  50,  45,  40,  40,  45,  50,  60, 80, 110, 140, 160,
                                               170, 190, 230, 200, 170, 140, 110, 90, 70, 60,  50,  40};

const Size& draw_size(Random& random) {
  auto left = random.below(1000);
  for (const auto& size : kSizes) {
    if (left < size.per_mille) return size;
    left -= size.per_mille;
  }
  return kSizes.back();
}

Seconds draw_seconds(const Size& size, Random& random) {
  const double seconds = std::exp(size.mean + size.deviation * random.normal());
  return seconds >= static_cast<double>(kLongest) ? kLongest
                                                  : std::max<Seconds>(1, static_cast<Seconds>(seconds));
}

// Moves a moment of a day with even arrivals to where as many have come on a day with kHourly.
Seconds by_hour(Seconds moment) {
  const Seconds day = moment / kDay;
  Seconds left = (moment % kDay) * 100;
  for (std::size_t hour = 0; hour < kHourly.size(); ++hour) {
    const Seconds here = kHourly[hour] * kHour;
    if (left < here) return day * kDay + static_cast<Seconds>(hour) * kHour + left / kHourly[hour];
    left -= here;
  }
  return (day + 1) * kDay;
}

struct Drawn {
  std::vector<Job> jobs;
  std::vector<bool> follows;  // the job before it, within seconds
};

// Draws jobs until they need what the tenant needs on average; the last one only if that is nearer. Those of
// a burst have one size, as a sweep.
Drawn draw_jobs(std::size_t tenant, const Profile& profile, std::int64_t gpu_seconds, std::int64_t gpus,
                Random& random) {
  Drawn drawn;
  const Size* size = nullptr;
  while (gpu_seconds > 0) {
    const bool follows = size != nullptr && random.chance(profile.burst);
    if (!follows) size = &draw_size(random);
    if (size->gpus > gpus) continue;
    const auto seconds = draw_seconds(*size, random);
    const auto needs = size->gpus * seconds;
    if (needs / 2 > gpu_seconds && !drawn.jobs.empty()) break;
    gpu_seconds -= needs;
    drawn.jobs.push_back(Job{.tenant = tenant, .gpus = size->gpus, .seconds = seconds});
    drawn.follows.push_back(follows);
  }
  return drawn;
}

// The load grows from half of the mean to one and a half of it, as in the trace. part: of the jobs, from 0
// to 1.
Seconds by_growth(double part, Seconds horizon) {
  return static_cast<Seconds>((std::sqrt(0.25 + 2 * part) - 0.5) * static_cast<double>(horizon));
}

// Gaps between bursts have no unit until all are known; then they fill the horizon.
void draw_arrivals(Drawn& drawn, double spread, Seconds horizon, Random& random) {
  std::vector<double> starts;
  double moment = 0;
  for (const bool follows : drawn.follows) {
    starts.push_back(follows ? starts.back() : moment);
    if (!follows) moment += std::exp(spread * random.normal());
  }
  Seconds within = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    within = drawn.follows[i] ? within + random.below(10) : 0;
    drawn.jobs[i].arrival = by_hour(by_growth(starts[i] / moment, horizon)) + within;
  }
}

}  // namespace

Workload make_twin(std::int64_t gpus, std::int64_t days, std::int64_t load, std::uint64_t seed) {
  Workload workload{.gpus = gpus, .tenants = {}, .jobs = {}};
  const Seconds horizon = days * kDay;
  for (std::size_t i = 0; i < kProfiles.size(); ++i) {
    Random random(seed * 1000 + i);
    const auto gpu_seconds = kProfiles[i].demand * horizon / kAllDemand * gpus * load / 100;
    auto drawn = draw_jobs(i, kProfiles[i], gpu_seconds, gpus, random);
    draw_arrivals(drawn, kProfiles[i].spread, horizon, random);
    workload.tenants.push_back(Tenant{.name = "tenant-" + std::to_string(i + 1)});
    workload.jobs.insert(workload.jobs.end(), drawn.jobs.begin(), drawn.jobs.end());
  }
  return workload;
}

}  // namespace gpupool::bench::fair
