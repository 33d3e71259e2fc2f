#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_pool.h"

namespace gpupool::planning {

// Empty, or what is wrong with the selector (labels.Selector semantics: In, NotIn, Exists, DoesNotExist).
std::string check_selector(const api::LabelSelector& selector);
bool selects(const api::LabelSelector& selector, const std::map<std::string, std::string>& labels);

// Empty, or why the pattern does not compile. RE2: linear in the input, whatever the pattern.
std::string check_pattern(const std::string& pattern);

// What a pool's selector picks.
struct Members {
  std::vector<std::shared_ptr<const api::Node>> nodes;  // belong to this pool, in order of name
  std::vector<api::ExcludedNode> excluded;              // picked, but not used, and why; in order of name
  bool in_older_pool = false;                           // some are excluded because an older pool has them
};

// Where one node belongs.
struct Placement {
  std::shared_ptr<const api::GpuPool> pool;  // null: to no pool
  struct Exclusion {
    std::string pool;  // picks the node, but does not use it
    std::string why;
    bool older_pool = false;  // because an older pool has it
  };
  std::vector<Exclusion> excluded = {};
};

// What these pools pick. A node picked by two belongs to the older one (creation time, then UID). A pool that
// does not compile owns nothing. Immutable, so thread-safe.
class Membership {
 public:
  explicit Membership(const std::vector<std::shared_ptr<const api::GpuPool>>& pools);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  Placement place(const api::Node& node) const;

 private:
  struct Rule;
  std::vector<Rule> rules_;  // the oldest pool first
};

}  // namespace gpupool::planning
