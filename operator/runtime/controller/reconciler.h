#pragma once

#include <optional>
#include <stop_token>

#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

namespace gpupool::runtime {

// What a successful reconcile wants next.
struct Requeue {
  std::optional<base::Duration> after = std::nullopt;  // none: only when something changes
};

// Level-based: brings the world nearer to what the object of this key asks for, whatever the reason for the
// call was. Called by several workers at once, never twice at once for one key. Errors are retried with the
// key's backoff.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual base::Result<Requeue> reconcile(const api::ObjectKey& key, const base::Log& log,
                                          std::stop_token stop) = 0;
};

}  // namespace gpupool::runtime
