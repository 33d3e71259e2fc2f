// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/core/foreign_pod.h"
#include "base/mutex.h"
#include "planning/nodes/resources.h"
#include "runtime/watch/reflector.h"

namespace gpupool::controllers {

// A foreign pod that has a node and has not ended.
struct ForeignPodOnNode {
  struct Details {
    api::ObjectKey key;
    std::optional<base::WallTime> created;
    bool intruder = false;  // neither of a DaemonSet nor a static pod of the kubelet
    bool operator==(const Details&) const = default;
  };
  std::size_t pod = 0;                                  // hash of its UID
  std::shared_ptr<const planning::Resources> requests;  // shared by pods that request the same
  std::shared_ptr<const Details> details;  // null for an ordinary pod of a DaemonSet, to save memory
};

// What foreign pods hold on all nodes. Keeps 40 bytes of a pod, and 150 more if it may have to be named, so
// that pods on nodes outside of pools cost little, and a node that joins a pool later is known at once.
// Handlers run on the reflector's thread and must not block. The other functions are thread-safe.
// REQUIRES: handlers are added before the manager starts the reflector.
class ForeignPodCache final : private runtime::ReflectorSink {
 public:
  ForeignPodCache(kube::Client& client, base::Clock& clock, base::Metrics& metrics, const base::Log& log);

  // Called with the name of a node when its pods have changed.
  void on_change(std::function<void(const std::string& node)> handler) {
    handlers_.push_back(std::move(handler));
  }
  std::vector<ForeignPodOnNode> on_node(const std::string& node) const;  // in no particular order

  // Apply one event of the watch. Called by the reflector's thread, and by tests.
  void apply(const api::ForeignPod& pod);
  void remove(const api::ForeignPod& pod);

  runtime::Reflector& reflector() { return reflector_; }
  bool synced() const { return reflector_.synced(); }

 private:
  using Pods = std::vector<ForeignPodOnNode>;  // in order of `pod`
  using ByNode = std::unordered_map<std::string, Pods>;
  struct ByContent {
    using Ptr = std::shared_ptr<const planning::Resources>;
    bool operator()(const Ptr& a, const Ptr& b) const { return *a < *b; }
  };

  base::Result<void> item(std::string_view text) override;
  void commit() override;
  void abandon() override { collected_.clear(); }
  base::Result<std::string> event(std::string_view type, std::string_view line) override;

  ForeignPodOnNode describe(const api::ForeignPod& pod);
  std::shared_ptr<const planning::Resources> shared(planning::Resources requests);
  void tell(const std::string& node) const;

  runtime::Reflector reflector_;
  std::vector<std::function<void(const std::string&)>> handlers_;
  // Of the reflector's thread:
  ByNode collected_;
  std::set<std::shared_ptr<const planning::Resources>, ByContent> known_;
  std::size_t prune_at_ = 64;

  mutable base::Mutex mutex_;
  ByNode nodes_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::controllers
