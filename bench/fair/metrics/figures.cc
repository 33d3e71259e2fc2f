// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/metrics/figures.h"

#include <algorithm>
#include <numeric>

#include "bench/support/results.h"

namespace gpupool::bench::fair {
namespace {

constexpr std::int64_t kGang = 16;  // GPUs
constexpr double kShortest = 600;   // run time that counts in a slowdown
constexpr double kHour = 3600;

double mean(const Sample& sample) {
  return sample.empty()
             ? 0
             : std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

// Over all jobs.
struct Jobs {
  Sample completion;
  Sample wait;
  Sample first_wait;
  Sample gang_wait;
  Sample slowdown;
  Seconds makespan = 0;
  std::int64_t yields = 0;
  int most_yields = 0;
  std::int64_t useful = 0;  // GPU-seconds
  std::int64_t held = 0;
  std::int64_t past_bound = 0;

  void add(const Job& job, const Cluster::State& state) {
    const auto took = static_cast<double>(state.end - job.arrival);
    const auto waited = static_cast<double>(state.end - job.arrival - state.held);
    completion.push_back(took / kHour);
    wait.push_back(waited / kHour);
    first_wait.push_back(static_cast<double>(state.first_wait) / kHour);
    if (job.gpus >= kGang) gang_wait.push_back(waited / kHour);
    slowdown.push_back(std::max(1.0, took / std::max(kShortest, static_cast<double>(job.seconds))));
    makespan = std::max(makespan, state.end);
    yields += state.yields;
    most_yields = std::max(most_yields, state.yields);
    useful += job.seconds * job.gpus;
    held += state.held * job.gpus;
    past_bound += job.bound > 0 && state.held > job.bound ? 1 : 0;
  }
};

// Over contested windows.
struct Contested {
  Sample fairness;
  double used = 1;  // part of the GPUs
};

Contested contested_windows(const Workload& workload, const Outcome& outcome) {
  Contested found;
  double used = 0;
  double there = 0;
  for (const auto& window : outcome.windows) {
    if (!contested(window, workload.gpus)) continue;
    found.fairness.push_back(fairness(window, workload.gpus));
    used +=
        static_cast<double>(std::accumulate(window.received.begin(), window.received.end(), std::int64_t{0}));
    there += static_cast<double>(workload.gpus * window.length);
  }
  if (there > 0) found.used = used / there;
  return found;
}

}  // namespace

std::vector<Figure> figures_of(const Workload& workload, const Outcome& outcome) {
  Jobs jobs;
  for (JobId id = 0; id < workload.jobs.size(); ++id) jobs.add(workload.jobs[id], outcome.jobs[id]);
  const auto windows = contested_windows(workload, outcome);
  const auto lost = static_cast<double>(jobs.held - jobs.useful) / static_cast<double>(jobs.useful);
  return {
      {"mean completion", mean(jobs.completion), "h"},
      {"completion p50", quantile(jobs.completion, 0.5), "h"},
      {"completion p99", quantile(jobs.completion, 0.99), "h"},
      {"mean wait", mean(jobs.wait), "h"},
      {"wait p50", quantile(jobs.wait, 0.5), "h"},
      {"wait p99", quantile(jobs.wait, 0.99), "h"},
      {"first wait p50", quantile(jobs.first_wait, 0.5), "h"},
      {"gang wait p99", quantile(jobs.gang_wait, 0.99), "h"},
      {"slowdown p99", quantile(jobs.slowdown, 0.99), ""},
      {"makespan", static_cast<double>(jobs.makespan) / kHour, "h"},
      {"contested windows", static_cast<double>(windows.fairness.size()), ""},
      {"contested utilisation", windows.used, ""},
      {"Jain", windows.fairness.empty() ? 1 : mean(windows.fairness), ""},
      {"preemptions", static_cast<double>(jobs.yields), ""},
      {"preemptions of one job", static_cast<double>(jobs.most_yields), ""},
      {"lost", 100 * lost, "%"},
      {"past bound", static_cast<double>(jobs.past_bound), "jobs"},
      {"promises", static_cast<double>(outcome.promises), ""},
      {"broken promises", static_cast<double>(outcome.broken_promises), ""},
  };
}

}  // namespace gpupool::bench::fair
