// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sweep/sweeps.h"

#include "planning/sweep/trial_job.h"

namespace gpupool::test {

base::WallTime sweep_time(std::int64_t seconds) {
  return base::WallTime(std::chrono::seconds(1'767'323'045 + seconds));
}

api::SweepParameter with_values(const std::string& name, std::vector<std::string> values) {
  api::SweepParameter parameter;
  parameter.name = name;
  parameter.values = std::move(values);
  return parameter;
}

api::SweepParameter with_integers(const std::string& name, std::int64_t min, std::int64_t max) {
  api::SweepParameter parameter;
  parameter.name = name;
  parameter.integers = api::SweepIntegers{min, max};
  return parameter;
}

api::SweepParameter uniform(const std::string& name, const std::string& min, const std::string& max) {
  api::SweepParameter parameter;
  parameter.name = name;
  parameter.uniform = api::SweepRange{min, max};
  return parameter;
}

api::SweepParameter log_uniform(const std::string& name, const std::string& min, const std::string& max) {
  api::SweepParameter parameter;
  parameter.name = name;
  parameter.log_uniform = api::SweepRange{min, max};
  return parameter;
}

api::GpuSweep make_sweep(std::int64_t trials) {
  api::GpuSweep sweep;
  sweep.metadata.name = "tune";
  sweep.metadata.ns = "ns";
  sweep.metadata.uid = "uid-tune";
  sweep.metadata.resource_version = "1";
  sweep.metadata.generation = 1;
  sweep.spec.parameters = {with_integers("lr", 1, trials)};
  sweep.spec.objective.emplace();
  sweep.spec.objective->metric = "val/loss";
  sweep.spec.objective->goal = api::sweep_goal::kMinimize;
  sweep.spec.job.text = R"x({"pool":"lab","template":{"spec":{"containers":[)x"
                        R"x({"name":"train","image":"i:1","command":["train","--lr=$(lr)"]}]}}})x";
  return sweep;
}

api::GpuJob make_trial(const api::GpuSweep& sweep, std::int64_t trial) {
  auto job = base::json::read<api::GpuJob>(
                 planning::trial_job(sweep, trial, planning::TrialSpace(sweep.spec).parameters(trial)))
                 .value();
  job.metadata.uid = "uid-" + job.metadata.name;
  return job;
}

api::GpuJob running(api::GpuJob job) {
  job.status.phase = api::phase::kRunning;
  job.status.lease = api::Lease{};
  return job;
}

api::GpuJob succeeded(api::GpuJob job, const std::string& value) {
  job.status.lease.reset();
  job.status.phase = api::phase::kSucceeded;
  job.status.reason = "Completed";
  job.status.metrics.emplace();
  if (value.empty()) {
    job.status.metrics->missing = {"val/loss"};
    job.status.metrics->other_names = {"loss", "acc"};
    return job;
  }
  api::JobMetric metric;
  metric.name = "val/loss";
  metric.last = metric.least = metric.greatest = value;
  metric.count = 1;
  job.status.metrics->values = {metric};
  return job;
}

api::GpuJob failed(api::GpuJob job, const std::string& reason) {
  job.status.lease.reset();
  job.status.phase = api::phase::kFailed;
  job.status.reason = reason;
  job.status.message = "rank 0 crashed 4 times; last lines:\nboom";
  return job;
}

Job shared(api::GpuJob job) { return std::make_shared<const api::GpuJob>(std::move(job)); }

}  // namespace gpupool::test
