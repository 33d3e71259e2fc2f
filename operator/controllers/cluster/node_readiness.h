#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "api/core/node.h"
#include "base/clock.h"

namespace gpupool::controllers {

// For how long each node has not been ready, counted by this process's steady clock: the stamps on a node
// come from its kubelet and from the node controller, whose clocks may be wrong. A new operator begins to
// count anew. Thread-safe.
class NodeReadiness {
 public:
  explicit NodeReadiness(const base::Clock& clock) : clock_(clock) {}

  // Zero for a node that is ready, and for one whose absence begins with this call. What a kubelet calls
  // False and the node controller Unknown is one absence; a new stamp under the same word is another one,
  // after a return that nobody saw.
  base::Duration not_ready_for(const api::Node& node);
  // The node is gone.
  void forget(const std::string& name);

 private:
  struct Absence {
    std::string uid;
    std::string status;
    std::optional<base::WallTime> stamp;
    base::SteadyTime since;
  };

  const base::Clock& clock_;
  std::mutex mutex_;
  std::unordered_map<std::string, Absence> absent_;  // by name
};

}  // namespace gpupool::controllers
