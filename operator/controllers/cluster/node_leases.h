// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "controllers/cluster/node_writer.h"
#include "controllers/gpujob/job_actions.h"

namespace gpupool::controllers {

// Writes the marks of leases on nodes (docs/protocol.md#step-3-take): taint, label and annotation in one
// patch. The server refuses it for any other version of the node. It changes only our entries, taints by
// their index. Called by reconcile threads and the node sweeper; thread-safe.
class NodeLeases {
 public:
  explicit NodeLeases(NodeWriter& writer) : writer_(writer) {}

  // See JobActions::take_node. Replaces an older value of the same job.
  base::Result<JobActions::Taken> take(const api::NodeRef& ref, const api::LeaseValue& value,
                                       const api::ObjectKey& job, std::stop_token stop);

  // Removes all marks of the job with this UID. No error if the node is gone or has another UID.
  base::Result<void> free(const api::NodeRef& ref, const std::string& job_uid, std::stop_token stop);

  // Removes all lease marks from exactly this version of the node; kConflict if it has changed.
  base::Result<void> strip(const api::Node& node, std::stop_token stop);

 private:
  NodeWriter& writer_;
};

}  // namespace gpupool::controllers
