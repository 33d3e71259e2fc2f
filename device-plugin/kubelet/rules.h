#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "allocation/allocate.h"
#include "inventory/gpu.h"
#include "settings/settings.h"

namespace gpupool::kubelet {

// What an answer to the kubelet is made of besides the table.
struct Rules {
  settings::Settings settings;
  allocation::Places places;
  std::vector<inventory::Gpu> gpus;
};

// The rules of the moment, replaced as a whole after a reload. Thread-safe.
class CurrentRules {
 public:
  CurrentRules() : rules_(std::make_shared<const Rules>()) {}
  void set(Rules rules) {
    auto next = std::make_shared<const Rules>(std::move(rules));
    const std::lock_guard lock(mutex_);
    rules_ = std::move(next);
  }
  std::shared_ptr<const Rules> get() const {
    const std::lock_guard lock(mutex_);
    return rules_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Rules> rules_;
};

}  // namespace gpupool::kubelet
