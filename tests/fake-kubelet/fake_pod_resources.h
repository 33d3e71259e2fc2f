// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpupool::test {

// The kubelet's pod-resources server. Thread-safe.
class FakePodResources {
 public:
  struct Held {
    std::string ns;
    std::string pod;
    std::string container;
    std::string resource;
    std::vector<std::string> ids;
  };

  // Serves on this socket at once.
  explicit FakePodResources(const std::string& socket);
  ~FakePodResources();

  void hold(std::vector<Held> held);
  // The healthy devices by resource; until this was called, GetAllocatableResources is not implemented, as
  // before Kubernetes 1.21.
  void allocatable(std::map<std::string, std::vector<std::string>> ids);
  // One entry per device, as kubelets do since 1.21.
  void split_entries(bool split);

 private:
  class Service;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::test
