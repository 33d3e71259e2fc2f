// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "controllers/gpujob/job_actions.h"
#include "planning/job/observation.h"

namespace gpupool::controllers {

// What one reconcile of a job knows and has done so far. Lives on the stack of one reconcile.
struct ReconcileState {
  std::shared_ptr<const api::GpuJob> job;
  bool confirmed = false;  // in this reconcile the server showed the job in exactly this version
  std::optional<Ticket> ticket;
  std::optional<planning::Replacement> replacement;
  bool nodes_taken = false;
  bool children_made = false;
  bool children_late = false;
  std::string late_cause;
  bool dropped = false;
  bool released = false;
  planning::Rehearsal rehearsal;
  planning::Rehearsal first_rehearsal;
  planning::Rehearsal pod_rehearsal;
  planning::MountTrouble mounts;
  std::optional<api::Problem> blocked;
  std::optional<api::Problem> unfunded;  // JobActions::admit has refused
  std::optional<JobActions::Live> live;  // read from the server; nullopt: the caches sufficed so far
};

}  // namespace gpupool::controllers
