// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

namespace gpupool::net {

Endpoint without_identity(const Endpoint& endpoint) {
  Endpoint made = endpoint;
  made.tls = [tls = endpoint.tls]() -> base::Result<TlsMaterial> {
    auto material = tls ? tls() : base::Result<TlsMaterial>(TlsMaterial{});
    if (material) material->client_cert_pem = material->client_key_pem = {};
    return material;
  };
  return made;
}

}  // namespace gpupool::net
