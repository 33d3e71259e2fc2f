// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/cluster/node_writer.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Keeps the marks of a node up to date, except those of leases: taint and label of its sharing pool, and
// labels with the GPU model and memory from its report. Keys are nodes. Runs on one reconcile thread.
class NodeMarker final : public runtime::Reconciler {
 public:
  NodeMarker(kube::Client& client, Caches& caches) : writer_(client, caches), caches_(caches) {}
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  // Empty if there is nothing to change.
  std::string plan(const std::shared_ptr<const api::Node>& node) const;

  NodeWriter writer_;
  const Caches& caches_;
};

}  // namespace gpupool::controllers
