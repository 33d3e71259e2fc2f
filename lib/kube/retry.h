// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/result.h"

namespace gpupool::kube {

struct RetryState {
  bool is_read = false;
  int tries_done = 1;
  int max_tries = 1;
  double random = 0;  // in [0, 1), for the jitter
};

// How long Sender waits before it sends the same request again; nothing: give up. Pure.
//
//   answer                                   read        write
//   429, refused before the handler          again       again
//   503 with Retry-After, starting, stopping again       again
//   "Too large resource version"             give up     give up
//   other 5xx, transport error               again       give up
//   no answer in time (has cost a minute)    give up     give up
//
// A write is repeated only if the server certainly did nothing. 500 ServerTimeout also has Retry-After, but
// the server sends it for a write whose answer from etcd was lost. 502 and 504 may come from a proxy after
// the write. In these cases the caller must read the object.
std::optional<base::Duration> retry_delay(const RetryState& state, const base::Error& error);

}  // namespace gpupool::kube
