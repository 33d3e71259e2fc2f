// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stop_token>

#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace gpupool::runtime {

// When a key is reconciled again after a success.
struct Requeue {
  std::optional<base::Duration> after = std::nullopt;  // nullopt: only after the next change
};

// Brings the cluster closer to what the object of a key asks for, whatever caused the call (level-based).
// Called by several reconcile threads at once, never by two for the same key. An error is retried with the
// backoff of the key.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual base::Result<Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                          std::stop_token stop) = 0;
};

}  // namespace gpupool::runtime
