// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "kube/client.h"
#include "kube/config/rest_config.h"
#include "net/budget_transport.h"
#include "options.h"
#include "runtime/leader/boot_clock.h"
#include "runtime/leader/elector.h"

namespace gpupool {

// The leader election with its own connection, and the time limit that it sets to all other writes. Owned by
// main.
class Leadership {
 public:
  // REQUIRES: everything referenced outlives this. Without --leader-elect there is no election and no limit.
  Leadership(const Options& options, const kube::RestConfig& config, const std::string& instance,
             base::Metrics& metrics, const base::Log& log);

  // Null without an election.
  runtime::LeaderGate* gate() { return elector_ ? &*elector_ : nullptr; }
  // For the transport of all other requests: reads have no limit, a write must end before the term does.
  // Thread-safe.
  std::optional<std::chrono::milliseconds> budget(const net::HttpRequest& request) const;

 private:
  runtime::BootClock clock_;
  std::unique_ptr<net::Transport> wire_;
  std::optional<net::BudgetTransport> limited_;
  std::optional<kube::Client> client_;
  std::optional<runtime::Elector> elector_;
};

}  // namespace gpupool
