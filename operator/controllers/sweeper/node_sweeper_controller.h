// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/setup.h"
#include "controllers/sweeper/foreign_pods.h"
#include "controllers/sweeper/node_sweeper.h"
#include "runtime/controller/controller.h"

namespace gpupool::controllers {

// The controller of lease marks on nodes. Checks a marked node when it changes, when a job gives it back, or
// when a foreign pod is bound to it.
class NodeSweeperController {
 public:
  explicit NodeSweeperController(const Setup& setup);

 private:
  void on_pod(const runtime::Change<api::Pod>& change);

  Caches& caches_;
  ForeignPods foreign_;
  NodeSweeper reconciler_;
  runtime::Controller controller_;
};

}  // namespace gpupool::controllers
