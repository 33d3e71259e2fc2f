// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/follows_another.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

namespace gpupool::planning {
namespace {

constexpr std::array<std::string_view, 8> kPeerIsGone = {
    "Connection closed by peer",                    // gloo
    "Connection reset by peer",                     // ECONNRESET
    "Broken pipe",                                  // EPIPE
    "Connection refused",                           // ECONNREFUSED: rank 0 listens no more
    "ncclRemoteError",                              // NCCL 2.13 and later
    "remote process exited",                        // NCCL's text of it
    "NCCL communicator was aborted",                // PyTorch
    "Watchdog caught collective operation timeout"  // PyTorch
};

}  // namespace

bool follows_another_end(const WorkerResult& result) {
  if (result.outcome == api::worker_result::kSignaled) return result.signal == SIGTERM;
  if (result.outcome != api::worker_result::kExited) return false;
  return std::ranges::any_of(
      kPeerIsGone, [&](std::string_view words) { return result.tail.find(words) != std::string::npos; });
}

}  // namespace gpupool::planning
