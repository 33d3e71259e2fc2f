#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "controllers/cluster/node_writer.h"
#include "planning/job_validation.h"

namespace gpupool::controllers {

// Writes leases on nodes: taint, label and annotation in one patch that is refused unless the node is still
// what it was read as, and that touches only our entries, by index (design section 5, promise 5).
// Thread-safe.
class NodeLeases {
 public:
  explicit NodeLeases(NodeWriter& writer) : writer_(writer) {}

  // A problem: the node cannot be had (gone, recreated, held by another lease). Else it carries the lease
  // now; written: it did not before. An older value of the same job is swapped for this one.
  struct Taken {
    bool written = false;
    std::optional<planning::Problem> problem = std::nullopt;
  };
  base::Result<Taken> take(const api::NodeRef& ref, const api::LeaseValue& value, const api::ObjectKey& job,
                           std::stop_token stop);

  // Removes every entry of the job with this UID; a node that is gone or another one by now is fine.
  base::Result<void> free(const api::NodeRef& ref, const std::string& job_uid, std::stop_token stop);

  // Removes whatever stands under our keys on exactly this version of the node; kConflict if it has changed.
  base::Result<void> strip(const api::Node& node, std::stop_token stop);

 private:
  NodeWriter& writer_;
};

}  // namespace gpupool::controllers
