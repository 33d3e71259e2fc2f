// SPDX-License-Identifier: Apache-2.0
#include "net/server_certificate.h"

#include "base/read_file.h"

namespace gpupool::net {

base::Result<std::string> read_server_certificate(const std::string& directory) {
  std::string pem;
  for (const char* name : {"/tls.crt", "/tls.key"}) {
    auto part = base::read_file(directory + name);
    if (!part) return tl::unexpected<base::Error>(part.error());
    pem += *part + "\n";
  }
  return pem;
}

}  // namespace gpupool::net
