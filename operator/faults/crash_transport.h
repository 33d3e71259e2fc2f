// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/metrics.h"
#include "faults/fault_config.h"
#include "net/transport.h"

namespace gpupool::faults {

// Kills this process (SIGKILL) exactly before or after its n-th request. Watches do not count: they have no
// effect, and their number depends on the time. Thread-safe.
class CrashTransport final : public net::Transport {
 public:
  // REQUIRES: inner and metrics outlive this.
  CrashTransport(net::Transport& inner, CrashConfig config, base::Metrics& metrics);

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

 private:
  base::Result<net::HttpResponse> count(const std::function<base::Result<net::HttpResponse>()>& call);

  net::Transport& inner_;
  CrashConfig config_;
  base::Counter& calls_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace gpupool::faults
