// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/transport.h"

namespace gpupool::net {

struct ServerRequest {
  std::string method;
  std::string path;   // decoded, beginning with '/'
  std::string query;  // the part after '?', not decoded
  std::vector<Header> headers = {};
  std::string body = {};
  std::string peer = {};  // IP address of the client

  // The value of the first header of this name, whatever its case; empty if there is none.
  std::string_view header(std::string_view name) const;
};

struct ServerResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<Header> headers = {};  // "Cache-Control: no-store" is sent unless this has a Cache-Control
  // An answer that goes on: called again and again for the next piece of the body, on the thread of the
  // request, until it returns nothing. May block; returns soon once stop is requested, because the server
  // stops. It is destroyed when everything was sent, or the client is gone: that is noticed when a piece is
  // sent.
  using Stream = std::function<std::optional<std::string>(const std::stop_token& stop)>;
  // REQUIRES: ServerOptions::streams.
  Stream stream = {};  // if set, body does not count
};

using Handler = std::function<ServerResponse(const ServerRequest& request)>;

struct ServerOptions {
  // Whether handlers may answer with streams. Then each connection has a thread; else two threads serve all.
  bool streams = false;
  unsigned int connections = 32;  // at a time
  // A connection on which nothing is read or written for this long is closed. Not of streams.
  std::chrono::seconds timeout{5};
  std::size_t max_body = 0;  // bytes of a request's body; 0: only GET and HEAD are served
  // Certificates, the server's own first, and its private key. If set, only TLS 1.2 and later is served.
  std::string tls_pem = {};
};

// An HTTP server for metrics, probes and the page. Serves from start() until destruction. Calls handlers on
// its threads. REQUIRES: handlers are thread-safe.
class HttpServer {
 public:
  // bind: "HOST:PORT" or ":PORT"; port 0 selects a free one. A handler serves its path and all paths below
  // it.
  static base::Result<std::unique_ptr<HttpServer>> start(const std::string& bind,
                                                         std::map<std::string, Handler> handlers,
                                                         const ServerOptions& options = {});
  // Ends the streams, then waits for all handlers.
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
