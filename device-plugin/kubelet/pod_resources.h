// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace gpupool::kubelet {

// Devices that a container holds, as the kubelet tells (podresources v1, List).
struct Holding {
  std::string ns;
  std::string pod;
  std::string container;
  std::string resource;
  std::vector<std::string> ids;
  bool operator==(const Holding&) const = default;
};

// Asks the kubelet; blocks for 5 s at most. Thread-safe.
class PodResources {
 public:
  explicit PodResources(std::string socket);
  virtual ~PodResources();
  PodResources(const PodResources&) = delete;
  PodResources& operator=(const PodResources&) = delete;

  virtual base::Result<std::vector<Holding>> list(std::stop_token stop);
  // The healthy devices of `resource` that the kubelet knows of, whoever registered them
  // (GetAllocatableResources). kInvalid before Kubernetes 1.23, which does not tell.
  virtual base::Result<std::vector<std::string>> allocatable(const std::string& resource,
                                                             std::stop_token stop);

 private:
  struct Connection;

  const std::string socket_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace gpupool::kubelet
