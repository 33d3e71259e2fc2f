// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "api/core/pod.h"
#include "base/clock.h"
#include "controllers/cluster/caches.h"
#include "kube/client.h"
#include "planning/workers/mount_trouble.h"

namespace gpupool::controllers {

// Deletes worker pods and removes their finalizer. The server's answers are in Caches::newest_pods at once,
// so nothing is done twice. No error if a pod is gone or has another UID. Called by reconcile threads and the
// pod sweeper; thread-safe.
class WorkerPods {
 public:
  WorkerPods(kube::Client& client, Caches& caches, const base::Clock& clock)
      : client_(client), caches_(caches), clock_(clock) {}

  // Deletes with the pod's own grace period; quickly: with 1 s. Never by force.
  base::Result<void> remove(const api::Pod& pod, bool quickly, std::stop_token stop);
  // REQUIRES: the pod has ended, and its outcome is written.
  base::Result<void> take_finalizer_off(const api::Pod& pod, std::stop_token stop);
  // Reads the Events about volumes that the kubelet cannot mount. Anybody who may create Events in the
  // namespace could have written them; they harm only a job of the namespace.
  base::Result<planning::MountTrouble> read_mount_trouble(const api::Pod& pod, std::stop_token stop);
  // Writes the time into an annotation, so that the kubelet checks a pod that it should have ended.
  base::Result<void> nudge(const api::Pod& pod, std::stop_token stop);

 private:
  // Stores the server's answer; kNotFound is no error.
  base::Result<void> keep(const api::Pod& pod, const base::Result<std::string>& answer);

  kube::Client& client_;
  Caches& caches_;
  const base::Clock& clock_;
};

}  // namespace gpupool::controllers
