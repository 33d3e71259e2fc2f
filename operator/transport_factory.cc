// SPDX-License-Identifier: Apache-2.0
#include "transport_factory.h"

#include "net/curl_transport.h"

namespace gpupool {

std::unique_ptr<net::Transport> make_transport(const net::Endpoint& endpoint, const std::string& user_agent,
                                               base::Metrics& /*metrics*/, const base::Log& /*log*/) {
  return std::make_unique<net::CurlTransport>(endpoint, user_agent);
}

}  // namespace gpupool
