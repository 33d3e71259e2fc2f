#pragma once

#include "controllers/cluster/node_writer.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Keeps on each node what it should carry besides leases: taint and label of the sharing pool that it belongs
// to, and the GPU model and memory that its device plugin reports. Keys are nodes.
class NodeMarker final : public runtime::Reconciler {
 public:
  NodeMarker(NodeWriter& writer, const Caches& caches) : writer_(writer), caches_(caches) {}
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  // Empty if there is nothing to change.
  std::string plan(const std::shared_ptr<const api::Node>& node) const;

  NodeWriter& writer_;
  const Caches& caches_;
};

}  // namespace gpupool::controllers
