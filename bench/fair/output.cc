// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/output.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "bench/support/results.h"

namespace gpupool::bench::fair {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", std::isfinite(value) ? value : 0.0);
  return text;
}

std::string entry(const std::string& name, double value, const std::string& unit) {
  return "{\"name\":" + base::json::quote(name) + ",\"value\":" + number(value) +
         ",\"unit\":" + base::json::quote(unit) + "}";
}

std::string array(const std::vector<double>& values) {
  std::string text;
  for (const auto value : values) text += (text.empty() ? "" : ",") + number(value);
  return "[" + text + "]";
}

std::string entries_of(const Played& played) {
  std::string text;
  for (const auto& figure : played.figures)
    text += entry(played.policy + ": " + figure.name, figure.value, figure.unit) + ",\n";
  text += entry(played.policy + ": pass p50", quantile(played.pass_ms, 0.5), "ms") + ",\n";
  text += entry(played.policy + ": pass p99", quantile(played.pass_ms, 0.99), "ms");
  return text;
}

std::vector<double> mean_waits(const Workload& workload, const Outcome& outcome) {
  std::vector<double> waits(workload.tenants.size());
  std::vector<double> jobs(workload.tenants.size());
  for (JobId id = 0; id < workload.jobs.size(); ++id) {
    const auto& job = workload.jobs[id];
    const auto& state = outcome.jobs[id];
    waits[job.tenant] += static_cast<double>(state.end - job.arrival - state.held) / 3600;
    ++jobs[job.tenant];
  }
  for (std::size_t i = 0; i < waits.size(); ++i) waits[i] /= jobs[i];
  return waits;
}

}  // namespace

Played describe(const std::string& policy, const Workload& workload, const Outcome& outcome) {
  Played played{policy, figures_of(workload, outcome), outcome.pass_ms, {},
                {},     mean_waits(workload, outcome)};
  for (const auto& window : outcome.windows) {
    played.waiting.push_back(static_cast<double>(window.waiting_job_seconds) /
                             static_cast<double>(std::max<Seconds>(1, window.length)));
    played.fairness.push_back(contested(window, workload.gpus) ? fairness(window, workload.gpus) : -1);
  }
  return played;
}

void print(const Workload& workload, const std::vector<Played>& played) {
  std::int64_t gpu_seconds = 0;
  for (const auto& job : workload.jobs) gpu_seconds += job.gpus * job.seconds;
  std::printf("{\"benchmark\":\"fair\",\"window\":%lld,\"results\":[\n%s,\n%s",
              static_cast<long long>(kWindow),
              entry("jobs", static_cast<double>(workload.jobs.size()), "").c_str(),
              entry("work", static_cast<double>(gpu_seconds) / 3600, "GPU-hours").c_str());
  for (const auto& each : played) std::printf(",\n%s", entries_of(each).c_str());
  std::printf("],\n\"series\":{");
  for (const auto& each : played) {
    std::printf("%s\n%s:{\"waiting\":%s,\"fairness\":%s,\"wait\":%s}", &each == played.data() ? "" : ",",
                base::json::quote(each.policy).c_str(), array(each.waiting).c_str(),
                array(each.fairness).c_str(), array(each.wait).c_str());
  }
  std::printf("},\n\"tenants\":[");
  for (const auto& tenant : workload.tenants)
    std::printf("%s%s", &tenant == workload.tenants.data() ? "" : ",",
                base::json::quote(tenant.name).c_str());
  std::printf("]}\n");
}

}  // namespace gpupool::bench::fair
