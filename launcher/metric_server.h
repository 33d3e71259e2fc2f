// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "launcher/expected.h"
#include "launcher/metrics.h"

namespace gpupool::launcher {

// Tells the numbers of the running command over TCP, as lib/api/live_metrics_format.h says. At most kMaxPeers
// connections at a time: a further one takes the place of the oldest. Never waits for a peer. Called from the
// Supervisor's poll() loop; not thread-safe. `metrics` outlives it.
class MetricServer {
 public:
  static constexpr std::size_t kMaxPeers = 8;

  explicit MetricServer(const Metrics& metrics) : metrics_(metrics) {}

  // Listens on all addresses. id: what a peer must send. Until it is called, nothing listens.
  Expected<void> open(std::uint16_t port, std::string id);

  void add_to(std::vector<pollfd>& events) const;
  // Deals with what has come.
  void pump();

 private:
  struct Peer {
    base::UniqueFd socket;
    std::string request;
  };

  void accept_peers();
  // Returns true when nothing more is to be done for the peer.
  bool serve(Peer& peer);
  [[nodiscard]] std::string answer() const;

  const Metrics& metrics_;
  std::string id_;
  base::UniqueFd listener_;
  std::vector<Peer> peers_;  // oldest first
};

}  // namespace gpupool::launcher
