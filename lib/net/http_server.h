// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace gpupool::net {

struct ServerResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
};

// query: the part after '?', not decoded.
using Handler = std::function<ServerResponse(const std::string& path, const std::string& query)>;

// A GET-only HTTP server for metrics and probes. Serves from start() until destruction. Calls handlers on its
// 2 threads. REQUIRES: handlers are thread-safe.
class HttpServer {
 public:
  // bind: "HOST:PORT" or ":PORT"; port 0 selects a free one. A handler serves its path and all paths below
  // it.
  static base::Result<std::unique_ptr<HttpServer>> start(const std::string& bind,
                                                         std::map<std::string, Handler> handlers);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::net
