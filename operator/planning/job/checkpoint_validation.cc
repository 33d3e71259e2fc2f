// SPDX-License-Identifier: Apache-2.0
#include "planning/job/checkpoint_validation.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "api/v1alpha1/reasons.h"
#include "planning/job/name_checks.h"
#include "planning/workers/manifests.h"
#include "planning/workers/worker_checkpoint.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kMaxGraceSeconds = 86'400;
constexpr std::int64_t kMaxIntervalSeconds = 2'592'000;

// A problem as text; empty: none.
using Why = std::string;

std::string_view without_last_slashes(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

bool is_at_or_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

Why check_directory(const api::JobCheckpoint& checkpoint) {
  const std::string_view path = without_last_slashes(checkpoint.directory());
  if (!checkpoint.directory().starts_with('/')) return ".path must be absolute";
  if (path.empty()) return ".path must not be the root directory";
  if (auto why = problem_of_path(path.substr(1)); !why.empty()) return ".path " + why;
  if (is_at_or_below(path, kLauncherDirectory))
    return ".path must not be in " + std::string(kLauncherDirectory) + ", which ends with the pod";
  constexpr std::array<std::string_view, 3> kOfTheSystem = {"/dev", "/proc", "/sys"};
  if (std::ranges::any_of(kOfTheSystem, [&](auto directory) { return is_at_or_below(path, directory); }))
    return ".path must not be in /dev, /proc or /sys";
  return {};
}

Why check_values(const api::JobCheckpoint& checkpoint) {
  if (auto why = check_directory(checkpoint); !why.empty()) return why;
  if (!checkpoint.claim_name.empty() && !is_object_name(checkpoint.claim_name))
    return ".claimName must be the name of a PersistentVolumeClaim";
  if (!checkpoint.notice.empty() && checkpoint.notice != api::checkpoint_notice::kSignal &&
      checkpoint.notice != api::checkpoint_notice::kFile)
    return ".notice must be Signal or File";
  const auto within = [](const std::optional<std::int64_t>& seconds, std::int64_t most) {
    return !seconds || (*seconds >= 1 && *seconds <= most);
  };
  if (!within(checkpoint.grace_seconds, kMaxGraceSeconds)) return ".graceSeconds must be from 1 to 86400";
  if (!within(checkpoint.interval_seconds, kMaxIntervalSeconds))
    return ".intervalSeconds must be from 1 to 2592000";
  return {};
}

std::optional<api::Problem> check_mounts(const api::JobCheckpoint& checkpoint, const api::PodTemplate& pod) {
  const auto taken = [](const std::string& what) {
    return api::Problem{api::reason::kInvalidTemplate, "spec.template.spec" + what};
  };
  for (const auto& volume : pod.spec.volumes) {
    if (volume.name == kCheckpointVolume)
      return taken(".volumes: the name " + volume.name + " belongs to gpupool");
  }
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const auto& container : *containers) {
      for (const auto& mount : container.volume_mounts) {
        if (mount.name == kCheckpointVolume)
          return taken(": the volume " + mount.name + " belongs to gpupool");
      }
    }
  }
  if (pod.spec.containers.empty()) return std::nullopt;
  const auto path = without_last_slashes(checkpoint.directory());
  for (const auto& mount : pod.spec.containers.front().volume_mounts) {
    if (without_last_slashes(mount.mount_path) == path)
      return taken(".containers[0].volumeMounts: " + mount.name + " is mounted at " + mount.mount_path +
                   ", and so is spec.checkpoint.claimName; remove one of them");
  }
  return std::nullopt;
}

}  // namespace

std::optional<api::Problem> validate_checkpoint(const api::GpuJobSpec& spec, const api::PodTemplate& pod) {
  if (!spec.checkpoint) return std::nullopt;
  if (const auto why = check_values(*spec.checkpoint); !why.empty())
    return api::Problem{api::reason::kInvalidSpec, "spec.checkpoint" + why};
  return spec.checkpoint->claim_name.empty() ? std::nullopt : check_mounts(*spec.checkpoint, pod);
}

}  // namespace gpupool::planning
