// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "net/http_server.h"

namespace gpupool::readers {

struct ReaderOptions {
  std::string bind_address;   // "HOST:PORT" or ":PORT"
  std::string tls_directory;  // holds tls.crt and tls.key
  unsigned int readers = 64;  // served at a time
};

// Serves readers by TLS. One thread at a time.
class ReaderServer {
 public:
  // answer: as of net::HttpServer. REQUIRES: everything referenced outlives this.
  ReaderServer(const ReaderOptions& options, net::Handler answer, const base::Log& log);

  // Call this now and then: a new certificate is served by a new server. Fails if there is nothing to serve
  // with, or no server can be started.
  base::Result<void> serve();

 private:
  const ReaderOptions options_;
  const net::Handler answer_;
  const base::Log log_;
  std::string served_;  // certificate
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace gpupool::readers
