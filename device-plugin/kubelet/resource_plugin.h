#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "kubelet/directory_watch.h"
#include "kubelet/offering.h"
#include "kubelet/plugin_server.h"
#include "kubelet/pod_resources.h"
#include "kubelet/registration_state.h"
#include "kubelet/resource_lock.h"

namespace gpupool::kubelet {

// The device plugin of one resource: serves it, registers it with the kubelet, and does so again whenever the
// kubelet was restarted, the sockets were wiped or the kubelet dropped it. status() is thread-safe.
class ResourcePlugin {
 public:
  enum class Phase { kStarting, kOtherPlugin, kNoKubelet, kRefused, kRegistered, kDisplaced };
  struct Status {
    Phase phase = Phase::kStarting;
    std::string detail;  // for people, when not registered
    bool operator==(const Status&) const = default;
  };

  // directory: the kubelet's plugin directory, as it is mounted here.
  ResourcePlugin(std::string directory, std::string resource, const Offering& offering, PodResources& pods,
                 base::Clock& clock);

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
  const Offering& offering_;
  PodResources& pods_;
  base::Clock& clock_;
  const base::Log log_;
  DirectoryWatch watch_;
  RegistrationState state_;
  std::optional<ResourceLock> lock_;
  std::unique_ptr<PluginServer> server_;
  mutable std::mutex status_mutex_;
  Status status_;
};

}  // namespace gpupool::kubelet
