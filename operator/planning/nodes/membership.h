// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_pool.h"

namespace gpupool::planning {

// Returns what is wrong with the selector; empty if it is valid (semantics of labels.Selector: In, NotIn,
// Exists, DoesNotExist).
std::string check_selector(const api::LabelSelector& selector);
bool selects(const api::LabelSelector& selector, const std::map<std::string, std::string>& labels);

// Returns why the pattern does not compile; empty if it does. RE2 is linear in the length of its input.
std::string check_pattern(const std::string& pattern);

// The nodes that match a pool's selector.
struct Members {
  std::vector<std::shared_ptr<const api::Node>> nodes;  // members of the pool, in order of name
  std::vector<api::ExcludedNode> excluded;              // matched but not used, and why; in order of name
  bool in_older_pool = false;  // some are excluded because they belong to an older pool
};

// The pool of one node (node to pool).
struct NodeMembership {
  std::shared_ptr<const api::GpuPool> pool;  // null: the node belongs to no pool
  struct Exclusion {
    std::string pool;  // matches the node but does not use it
    std::string why;
    bool older_pool = false;  // because the node belongs to an older pool
  };
  std::vector<Exclusion> excluded = {};
};

// The rules by which nodes belong to pools, at one moment. A node that two pools match belongs to the older
// one (creation time, then UID). A pool with an invalid selector or pattern has no members. Immutable, so
// thread-safe. Created by Caches at each change of a pool; used by controllers and PoolQueue.
class Membership {
 public:
  explicit Membership(const std::vector<std::shared_ptr<const api::GpuPool>>& pools);
  ~Membership();
  Membership(Membership&& other) noexcept;
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  NodeMembership of(const api::Node& node) const;

 private:
  struct Rule;
  std::vector<Rule> rules_;  // the oldest pool first
};

}  // namespace gpupool::planning
