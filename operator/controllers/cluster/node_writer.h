// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "controllers/cluster/caches.h"
#include "kube/client.h"

namespace gpupool::controllers {

// Writes nodes that others write too. A patch names the version that it was made from; after a conflict the
// node is read and the patch is planned again. Called by reconcile threads; thread-safe.
class NodeWriter {
 public:
  NodeWriter(kube::Client& client, Caches& caches) : client_(client), caches_(caches) {}

  // Decides what to do with a node (null: it is gone).
  //
  //   result          meaning
  //   a JSON patch    write it; it must contain only_if_version
  //   an empty text   read the node from the server and plan again (if not `live` already)
  //   nullopt         leave the node as it is
  using Planner =
      std::function<std::optional<std::string>(const std::shared_ptr<const api::Node>& node, bool live)>;
  // Returns true if a patch was written. kConflict if the node changed during every try.
  base::Result<bool> edit(const std::string& name, const Planner& plan, std::stop_token stop);

  // Writes this patch once; kConflict if the node has changed.
  base::Result<void> write(const std::string& name, const std::string& patch, std::stop_token stop);

 private:
  kube::Client& client_;
  Caches& caches_;
};

}  // namespace gpupool::controllers
