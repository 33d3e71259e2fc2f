#pragma once

#include "controllers/cluster/caches.h"
#include "kube/client.h"
#include "runtime/controller/reconciler.h"

namespace gpupool::controllers {

// Keeps on each node what it should carry besides leases: taint and label of the sharing pool that it belongs
// to, and the GPU model and memory that its device plugin reports. Keys are nodes.
class NodeMarker final : public runtime::Reconciler {
 public:
  NodeMarker(kube::Client& client, Caches& caches) : client_(client), caches_(caches) {}
  base::Result<runtime::Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                           std::stop_token stop) override;

 private:
  // Empty if there is nothing to change.
  std::string plan(const std::shared_ptr<const api::Node>& node) const;

  kube::Client& client_;
  Caches& caches_;
};

}  // namespace gpupool::controllers
