// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/cluster/caches.h"
#include "kube/client.h"
#include "runtime/events/recorder.h"
#include "runtime/manager/manager.h"

namespace gpupool::controllers {

// What a controller needs. main constructs each controller once, before the manager runs; the controller
// registers its handlers with the caches and itself with the manager. REQUIRES: everything referenced
// outlives the controllers.
struct Setup {
  kube::Client& client;
  Caches& caches;
  runtime::EventRecorder& events;
  runtime::Manager& manager;
  base::Clock& clock;
  base::Metrics& metrics;
  const base::Log& log;
};

}  // namespace gpupool::controllers
