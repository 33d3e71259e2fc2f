// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/worker_checkpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "planning/workers/own_containers.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMaxGrace = 2'147'483'647;  // of the launcher

const char* resume_of(const api::GpuJob& job) { return job.status.lease->attempt > 0 ? "1" : "0"; }

// A claim may be that of a whole team. A job with the name of an earlier one does not find that one's files.
std::string folder_of(const api::GpuJob& job) {
  constexpr std::size_t kEnough = 8;
  return job.metadata.name + "-" + job.metadata.uid.substr(0, kEnough);
}

}  // namespace

void add_checkpoint_flags(Json& command, const api::GpuJob& job, std::int64_t grace_seconds) {
  const auto& checkpoint = job.spec.checkpoint;
  if (!checkpoint) return;
  const bool by_file = checkpoint->notice == api::checkpoint_notice::kFile;
  command.push_back("--checkpoint-dir=" + unexpanded(checkpoint->directory()));
  command.push_back(std::string("--notice=") + (by_file ? "file" : "signal"));
  // A template may say what no pod lives to see.
  command.push_back("--grace-seconds=" +
                    std::to_string(std::clamp<std::int64_t>(grace_seconds, 1, kMaxGrace)));
  command.push_back(std::string("--resume=") + resume_of(job));
}

void add_checkpoint_variables(Json& variables, const api::GpuJob& job) {
  const auto& checkpoint = job.spec.checkpoint;
  if (!checkpoint) return;
  variables.push_back({{"name", "GPUPOOL_CHECKPOINT_DIR"}, {"value", unexpanded(checkpoint->directory())}});
  variables.push_back({{"name", "GPUPOOL_RESUME"}, {"value", resume_of(job)}});
}

void add_checkpoint_volume(Json& pod_spec, const api::GpuJob& job) {
  const auto& checkpoint = job.spec.checkpoint;
  if (!checkpoint || checkpoint->claim_name.empty()) return;
  auto volume = volume_of_claim(pod_spec, checkpoint->claim_name);
  if (volume.empty()) {
    volume = kCheckpointVolume;
    array_at(pod_spec, "volumes")
        .push_back({{"name", volume}, {"persistentVolumeClaim", {{"claimName", checkpoint->claim_name}}}});
  }
  array_at(pod_spec["containers"][0], "volumeMounts")
      .push_back({{"name", volume}, {"mountPath", checkpoint->directory()}, {"subPath", folder_of(job)}});
}

}  // namespace gpupool::planning
