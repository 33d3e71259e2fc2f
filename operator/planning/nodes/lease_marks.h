// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/node.h"

// The marks of a lease on a node: a taint, a label and an annotation. Pure.
namespace gpupool::planning {

// Returns the value of the lease taint; empty if there is none.
std::string lease_taint(const api::Node& node);

// True if the node has a taint with our key and an effect other than NoSchedule, which somebody else has
// added. It would keep the workers of the lease away, or evict them.
bool has_stray_lease_taint(const api::Node& node);

// True if the node has taint, label and annotation of this lease value and no stray taint.
bool carries_lease(const api::Node& node, const std::string& id);

// Returns the lease values in label and taint, the label's first: none, one or two. There are two when the
// node controller of Kubernetes before 1.26 has put back the taint of an earlier lease
// (kubernetes/kubernetes#113136).
std::vector<std::string> lease_values(const api::Node& node);

// True if the node has any mark of a lease.
bool has_lease_marks(const api::Node& node);

}  // namespace gpupool::planning
