// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "kubelet/allocation_handler.h"
#include "kubelet/list_streams.h"

namespace gpupool::kubelet {

// The DevicePlugin service over gRPC, from construction to destruction. No other file of the plugin's server
// includes gRPC.
class PluginService {
 public:
  // Serves on `socket`, which nothing else may use. kIo.
  static base::Result<std::unique_ptr<PluginService>> start(const AllocationHandler& handler,
                                                            ListStreams& streams, const std::string& socket);
  // Waits a second for calls under way.
  ~PluginService();
  PluginService(const PluginService&) = delete;
  PluginService& operator=(const PluginService&) = delete;

 private:
  struct Impl;
  explicit PluginService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::kubelet
