// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "worker_logs/attempts.h"

namespace gpupool::test {

inline const std::string kPlayedUid = "0b7f2a60-0000-4000-8000-000000000001";

// A job in namespace lab with so many workers of one GPU. status: the inside of its JSON object.
inline api::GpuJob played_job(int workers, const std::string& status) {
  const auto job = base::json::read<api::GpuJob>(
      R"({"metadata":{"name":"resnet","namespace":"lab","uid":")" + kPlayedUid + R"(","resourceVersion":")" +
      std::to_string(std::hash<std::string>{}(status)) + R"("},"spec":{"pool":"lab","gpus":)" +
      std::to_string(workers) +
      R"(,"template":{"spec":{"containers":[{"name":"train","command":["t"]},{"name":"side"}]}}},"status":{)" +
      status + "}}");
  if (!job) throw std::runtime_error(job.error().message);
  return *job;
}

// A pod of the StatefulSet resnet-<lease>; container_status: the inside of that of "train".
inline std::shared_ptr<const logs::WorkerPod> played_pod(int lease, int attempt, int rank,
                                                         const std::string& container_status,
                                                         const std::string& phase = "Running") {
  const std::string set = "resnet-" + std::to_string(lease);
  const std::string name = set + "-" + std::to_string(rank);
  const auto pod = base::json::read<logs::WorkerPod>(
      R"({"metadata":{"name":")" + name + R"(","namespace":"lab","uid":"uid-)" + name +
      R"(","labels":{"gpupool.dev/lease":")" + kPlayedUid + "." + std::to_string(lease) +
      R"("},"ownerReferences":[{"kind":"StatefulSet","name":")" + set +
      R"(","uid":"x","controller":true}]},"spec":{"nodeName":"gpu-)" + std::to_string(rank) +
      R"(","containers":[{"name":"side"},{"name":"train","env":[{"name":"GPUPOOL_ATTEMPT","value":")" +
      std::to_string(attempt) + R"("}]}]},"status":{"phase":")" + phase +
      R"(","containerStatuses":[{"name":"side","state":{}},{"name":"train",)" + container_status + "}]}}");
  if (!pod) throw std::runtime_error(pod.error().message);
  return std::make_shared<const logs::WorkerPod>(*pod);
}

inline const std::string kRuns = R"("state":{"running":{}})";
inline const std::string kFailedAndHolds =
    R"("restartCount":1,"state":{"running":{}},"lastState":{"terminated":{"exitCode":3}})";
inline const std::string kEndedWell = R"("state":{"terminated":{"exitCode":0}})";

}  // namespace gpupool::test
