// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/directory_watch.h"
#include "base/mutex.h"
#include "kubelet/plugin_context.h"
#include "kubelet/plugin_server.h"
#include "kubelet/pod_resources.h"
#include "kubelet/registration_state.h"
#include "kubelet/resource_lock.h"

namespace gpupool::kubelet {

// The device plugin of one resource, from the kubelet's point of view. It goes through these phases, again
// whenever the kubelet was restarted, the sockets were removed or the kubelet dropped the registration:
//
//   kStarting      gets the lock file and serves on a socket of its own
//   kOtherPlugin   another process of ours on this node holds the lock (a rolling update): waits for its end
//   kNoKubelet     kubelet.sock is absent, or nobody answers on it
//   kRefused       the kubelet refused the registration; tried again, up to a minute later
//   kRegistered    the kubelet keeps a ListAndWatch stream open
//   kDisplaced     something else registers for the same resource: waits until its devices are gone
//
// run() is for one thread, which PluginSet makes; status() is thread-safe. `context`, `pods` and `clock`
// outlive it.
class ResourcePlugin {
 public:
  enum class Phase { kStarting, kOtherPlugin, kNoKubelet, kRefused, kRegistered, kDisplaced };
  struct Status {
    Phase phase = Phase::kStarting;
    std::string detail;  // for people, when not registered
    bool operator==(const Status&) const = default;
  };

  // directory: the kubelet's plugin directory, as it is mounted here.
  ResourcePlugin(std::string directory, std::string resource, const PluginContext& context,
                 PodResources& pods, base::Clock& clock);

  // Until stop is requested; then ends the server within 2 s and leaves only the lock file behind.
  void run(std::stop_token stop);

  const std::string& resource() const { return resource_; }
  Status status() const;

 private:
  base::Duration step(const std::stop_token& stop);
  bool lock_held();
  bool serving();
  base::Duration register_with_kubelet(const std::stop_token& stop);
  bool another_has_it(const std::stop_token& stop);
  void set_status(Phase phase, std::string detail = {});

  const std::string directory_;
  const std::string resource_;
  const std::string endpoint_;
  const PluginContext& context_;
  PodResources& pods_;
  base::Clock& clock_;
  const base::Log log_;
  base::DirectoryWatch watch_;
  RegistrationState state_;
  std::optional<ResourceLock> lock_;
  std::unique_ptr<PluginServer> server_;
  mutable base::Mutex status_mutex_;
  Status status_ GPUPOOL_GUARDED_BY(status_mutex_);
};

}  // namespace gpupool::kubelet
