// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"

namespace gpupool::logs {

struct WorkerVariable {
  std::string name;
  std::string value;
};

struct WorkerContainer {
  std::string name;
  std::vector<WorkerVariable> env;
};

struct WorkerPodSpec {
  std::string node_name;
  std::vector<WorkerContainer> containers;
};

// A pod, with what tells of which attempt it is.
struct WorkerPod {
  static constexpr api::ResourceType kType{"", "v1", "pods", "Pod", true};
  api::ObjectMeta metadata;
  WorkerPodSpec spec;
  api::PodStatus status;
};

// Of whom a pod is a worker.
struct WorkerPlace {
  std::int64_t lease = 0;    // n of the lease (api::LeaseValue)
  std::int64_t attempt = 0;  // -1: unknown
  std::int64_t rank = 0;
};

// Nothing if the pod is no worker of this job (by name and UID; labels and owners are believed).
std::optional<WorkerPlace> place_of(const WorkerPod& pod, const api::GpuJob& job,
                                    const std::string& container);

// The container of the job's template that runs the command; empty if there is none.
std::string worker_container(const api::GpuJob& job);

// Where the output of a worker's command is: in the log of the first start of its container. Workers of a
// gang are started again after their end, and then only hold their result.
enum class Output {
  kNotBegun,
  kRunning,    // its container runs
  kEnded,      // its container has ended
  kPrevious,   // its container was started again once: the log is that of the previous one
  kForgotten,  // it was started again twice: its node has dropped the log
};

struct WorkerState {
  Output output = Output::kNotBegun;
  bool pod_over = false;       // no container of the pod will ever start again
  bool restarts = false;       // its container is started again after its end, to hold the result
  bool failed = false;         // its command has ended, with another exit code than 0
  std::int64_t exit_code = 0;  // of the command, once it has ended
  std::string waits_for = {};  // why it has not begun, for people
  bool operator==(const WorkerState&) const = default;
};

WorkerState state_of(const WorkerPod& pod, const std::string& container);

}  // namespace gpupool::logs

namespace gpupool::base::json {

template <>
struct Schema<logs::WorkerVariable> {
  using T = logs::WorkerVariable;
  static constexpr auto fields = std::array{field<&T::name>("name"), field<&T::value>("value")};
};
template <>
struct Schema<logs::WorkerContainer> {
  using T = logs::WorkerContainer;
  static constexpr auto fields = std::array{field<&T::name>("name"), field<&T::env>("env")};
};
template <>
struct Schema<logs::WorkerPodSpec> {
  using T = logs::WorkerPodSpec;
  static constexpr auto fields =
      std::array{field<&T::node_name>("nodeName"), field<&T::containers>("containers")};
};
template <>
struct Schema<logs::WorkerPod> {
  using T = logs::WorkerPod;
  static constexpr auto fields =
      std::array{field<&T::metadata>("metadata"), field<&T::spec>("spec"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json
