// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/setup.h"
#include "controllers/sweeper/pod_sweeper.h"
#include "runtime/controller/controller.h"

namespace gpupool::controllers {

// The controller of worker pods whose job is gone.
class PodSweeperController {
 public:
  explicit PodSweeperController(const Setup& setup);

 private:
  Caches& caches_;
  PodSweeper reconciler_;
  runtime::Controller controller_;
};

}  // namespace gpupool::controllers
