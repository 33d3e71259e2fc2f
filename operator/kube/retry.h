#pragma once

#include <optional>

#include "base/clock.h"
#include "base/result.h"

namespace gpupool::kube {

struct RetryState {
  bool is_read = false;
  int tries_done = 1;
  int max_tries = 1;
  double random = 0;  // in [0, 1): the jitter
};

// How long to wait before the same request is sent again; nothing: give up. Pure.
//
// Reads are sent again after 429, any 5xx and a transport error, but not after a timeout of our own, which
// has cost a minute. Writes only when the server certainly did nothing: 429 (refused by Priority and Fairness
// before the handler) and 503 with Retry-After (starting up or shutting down). A 500 ServerTimeout also
// carries Retry-After, but is what a write gets whose etcd answer was lost; 502 and 504 may come from a proxy
// after the write: those, like transport errors, are the caller's to look at.
std::optional<base::Duration> retry_delay(const RetryState& state, const base::Error& error);

}  // namespace gpupool::kube
