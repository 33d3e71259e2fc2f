// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/http_server.h"
#include "server/visitor.h"

namespace gpupool::web {

struct WebOptions {
  std::string bind;                // "127.0.0.1:0"
  std::vector<std::string> hosts;  // names under which it is reached, in lower case and without a port
  int tabs = 32;                   // served at a time
  std::string tls_pem = {};        // as of net::ServerOptions
  std::string ns;                  // where a visitor begins
  std::string version;
};

// The page and what it asks for. Serves from start() until destruction, which ends all streams.
class WebServer {
 public:
  // REQUIRES: everything referenced outlives the server.
  static base::Result<std::unique_ptr<WebServer>> start(const WebOptions& options, Visitors& visitors,
                                                        base::Clock& clock);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  int port() const;

 private:
  struct Impl;
  explicit WebServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::web
