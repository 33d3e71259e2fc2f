// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/gpunode/node_marker.h"
#include "controllers/setup.h"
#include "runtime/controller/controller.h"

namespace gpupool::controllers {

// The controller of the marks on nodes that do not belong to leases (NodeMarker). Reconciles a node when it,
// its pool, its report or its workers have changed.
class NodeMarkerController {
 public:
  explicit NodeMarkerController(const Setup& setup);

  runtime::WorkQueue& queue() { return controller_.queue(); }

 private:
  void on_pod(const runtime::Change<api::Pod>& change);

  Caches& caches_;
  NodeMarker reconciler_;
  runtime::Controller controller_;
};

}  // namespace gpupool::controllers
