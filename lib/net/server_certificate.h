// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace gpupool::net {

// Certificates and key of a mounted TLS Secret, tls.crt and tls.key, as one text for ServerOptions::tls_pem.
// kIo.
base::Result<std::string> read_server_certificate(const std::string& directory);

}  // namespace gpupool::net
