// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "api/v1alpha1/problem.h"
#include "controllers/cluster/caches.h"
#include "kube/client.h"
#include "planning/sweep/trial_space.h"

namespace gpupool::controllers {

// Writes GpuSweeps, and the GpuJobs of their trials. Called by reconcile threads; thread-safe.
class SweepWriter {
 public:
  using Sweep = std::shared_ptr<const api::GpuSweep>;
  using Job = std::shared_ptr<const api::GpuJob>;

  SweepWriter(kube::Client& client, Caches& caches) : client_(client), caches_(caches) {}

  // The server refuses it with kConflict if the sweep has changed since it was read.
  base::Result<Sweep> write_status(const api::GpuSweep& sweep, const api::GpuSweepStatus& status,
                                   std::stop_token stop);
  // Call before trials begin. Returns kConflict unless the server has the sweep in exactly this version: with
  // an old status, a trial whose result is recorded and whose job is deleted would begin again.
  base::Result<void> confirm(const api::GpuSweep& sweep, std::stop_token stop);

  // Asks the server, with a dry run, whether it would take the job of the first trial. Returns why it never
  // will as the job is written; nothing also if it cannot be told.
  std::optional<api::Problem> rehearse(const api::GpuSweep& sweep, const planning::TrialSpace& space,
                                       std::stop_token stop);

  struct Created {
    std::set<std::int64_t> taken = {};                   // another owner's job has the name
    std::optional<api::Problem> problem = std::nullopt;  // the server refuses the jobs
    std::optional<base::Error> error = std::nullopt;     // to be tried again
  };
  // Creates the jobs of these trials, several at a time. A job that this sweep controls may exist already.
  // Stops at the first problem or error.
  Created create(const api::GpuSweep& sweep, const std::vector<std::int64_t>& trials,
                 const planning::TrialSpace& space, const std::stop_token& stop);

  // Returns whether the server has the job of a trial.
  base::Result<bool> exists(const api::GpuSweep& sweep, std::int64_t trial, std::stop_token stop);
  // No error if the job is gone or has another UID.
  base::Result<void> remove(const api::GpuJob& job, std::stop_token stop);
  base::Result<void> suspend(const api::GpuJob& job, bool suspend, std::stop_token stop);

 private:
  base::Result<Sweep> keep(const api::GpuSweep& sweep, const base::Result<std::string>& answer,
                           std::stop_token stop);
  void create_one(const api::GpuSweep& sweep, std::int64_t trial, const planning::TrialSpace& space,
                  Created& created, const std::stop_token& stop);

  kube::Client& client_;
  Caches& caches_;
};

}  // namespace gpupool::controllers
