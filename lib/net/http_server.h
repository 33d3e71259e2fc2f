// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
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

// An answer that goes on until its writer returns.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  // Sends a piece at once. False: the client is gone, has read nothing for the request timeout, or the server
  // stops; nothing more can be sent. May block that long.
  virtual bool write(std::string_view piece) = 0;
  virtual bool stopping() const = 0;  // the server stops
};

struct ServerResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<Header> headers = {};  // "Cache-Control: no-store" is sent unless this has a Cache-Control
  // If set, it writes the body instead, in chunks, on the thread of the request.
  std::function<void(ResponseStream&)> stream = {};
};

using Handler = std::function<ServerResponse(const ServerRequest& request)>;

struct ServerOptions {
  int threads = 2;  // requests served at a time
  // Of reading a request, and of each write.
  std::chrono::milliseconds request_timeout{5000};
  std::size_t max_body = 0;  // bytes of a request's body; 0: only GET and HEAD are served
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
