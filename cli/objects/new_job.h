// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/v1alpha1/gpu_job.h"
#include "base/result.h"
#include "command/session.h"

namespace gpupool::objects {

// The volume by which a job's pods see the script that `run` sent along, and its place in the worker's
// container.
inline constexpr char kScriptVolume[] = "gpupool-script";
inline constexpr char kScriptDirectory[] = "/gpupool-script";

// A file in a ConfigMap that belongs to the job: it goes when the job goes.
struct Script {
  std::string config_map;  // its name
  std::optional<std::string>
      file;  // name of the file; nothing: the ConfigMap exists, and gets one more owner
  std::string content = {};
};

// The script of a job that `run` made, as one that exists. Nothing if it has none. REQUIRES: job is a GpuJob
// as JSON.
std::optional<Script> script_of(std::string_view job);

// The ConfigMap of a script as JSON. It cannot be changed. owner: nothing before the job exists, as for
// --dry-run.
std::string config_map_of(const Script& script, const std::string& ns, const api::GpuJob* owner);

// Creates a job. One with a script is created suspended, then its ConfigMap, owned by the job, then it is
// resumed: after an interruption at any point, deleting the job leaves nothing behind. If a later step fails,
// the job is deleted again. manifest: the GpuJob as JSON, with a namespace.
base::Result<api::GpuJob> create_job(command::Session& session, const std::string& manifest,
                                     const std::optional<Script>& script, const std::stop_token& stop);

}  // namespace gpupool::objects
