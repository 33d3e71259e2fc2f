#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "controllers/cluster/caches.h"
#include "kube/client.h"

namespace gpupool::controllers {

// Writes nodes that others write too: a patch names the version that it was made from, and where somebody was
// faster it is planned again for the node as it is now. Thread-safe.
class NodeWriter {
 public:
  NodeWriter(kube::Client& client, Caches& caches) : client_(client), caches_(caches) {}

  // What to do about this node (null: it is gone): a JSON patch that only_if_version guards; an empty one to
  // look at the live node, if it was not `live` already; nothing to leave it.
  using Planner =
      std::function<std::optional<std::string>(const std::shared_ptr<const api::Node>& node, bool live)>;
  // True if a patch was written. kConflict where others were faster each time.
  base::Result<bool> edit(const std::string& name, const Planner& plan, std::stop_token stop);

  // Writes this patch, once; kConflict if the node has changed.
  base::Result<void> write(const std::string& name, const std::string& patch, std::stop_token stop);

 private:
  kube::Client& client_;
  Caches& caches_;
};

}  // namespace gpupool::controllers
