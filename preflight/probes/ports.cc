// SPDX-License-Identifier: Apache-2.0
#include "probes/ports.h"

#include <algorithm>

#include "probes/http_probe.h"
#include "probes/listeners.h"
#include "probes/processes.h"

namespace gpupool::probes {

std::vector<checks::PortFacts> ports(const HostRoot& root, const std::vector<std::uint16_t>& wanted) {
  std::vector<checks::PortFacts> all;
  auto listening = listeners(root);
  if (!listening) listening = listeners(HostRoot("/"));
  if (!listening) return all;
  for (const std::uint16_t port : wanted) {
    checks::PortFacts facts{.port = port, .process = {}};
    const auto at = std::ranges::find(*listening, port, &Listener::port);
    if (at != listening->end()) {
      facts.taken = true;
      facts.process = holder_of_socket(root, at->inode);
      facts.status = probe_http(*at);
    }
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace gpupool::probes
