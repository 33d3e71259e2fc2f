#pragma once

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
  explicit PodResources(std::string socket) : socket_(std::move(socket)) {}
  base::Result<std::vector<Holding>> list(std::stop_token stop);

 private:
  std::string socket_;
};

}  // namespace gpupool::kubelet
