// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "kubelet/plugin_context.h"

namespace gpupool::kubelet {

// Serves the DevicePlugin service of one resource on a Unix socket, from start() to destruction. Thread-safe.
class PluginServer {
 public:
  struct Streams {
    std::uint64_t opened = 0;  // ListAndWatch streams ever
    std::uint64_t open = 0;
  };

  // Replaces an old socket at `socket`. on_stream: called when a stream has begun or ended, on gRPC's
  // threads; must not block. kIo: the directory is absent or not writable.
  //
  // REQUIRES: the caller holds the resource's lock (ResourceLock).
  static base::Result<std::unique_ptr<PluginServer>> start(const PluginContext& context,
                                                           const std::string& resource,
                                                           const std::string& socket,
                                                           std::function<void()> on_stream);
  // Ends the streams, waits a second for calls under way, and removes the socket if it is still this
  // server's.
  ~PluginServer();
  PluginServer(const PluginServer&) = delete;
  PluginServer& operator=(const PluginServer&) = delete;

  // False when the socket was removed or replaced: then nobody can reach this server any more.
  bool in_place() const;
  Streams streams() const;

 private:
  struct Impl;
  explicit PluginServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::kubelet
