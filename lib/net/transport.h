// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpupool::net {

struct Header {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method = "GET";
  std::string target;  // path and query, percent-encoded, beginning with '/'
  std::vector<Header> headers = {};
  std::string body = {};
  // From the call to the last byte. nullopt for watches: keep-alive, idle_timeout or a stop request ends
  // them.
  std::optional<std::chrono::milliseconds> timeout = std::chrono::seconds(60);
  // A stream that delivers no byte for this long is given up. Only for streams.
  std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt;
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};                            // empty if a sink received it
};

// Receives pieces of a 2xx body, of any size, as they arrive. Returning false ends the stream (kCancelled).
using BodySink = std::function<bool(std::string_view piece)>;

// Sends requests to one server. Thread-safe: each call runs on the caller's thread and uses its own
// connection, from a pool or a new one. Errors are kTransport, kTimeout or kCancelled; any HTTP status is an
// answer and not an error. A stop request ends a call at once. Redirects are never followed. A request with a
// body is never repeated; one without may be sent again when a reused connection ends before the first byte
// of an answer.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual base::Result<HttpResponse> send(const HttpRequest& request, std::stop_token stop) = 0;

  // Passes the body of a 2xx answer to `sink`, on the caller's thread. Returns the body of any other answer
  // (at most 1 MiB of it). Returns when the server ends the body. Streams and send() use separate
  // connections.
  virtual base::Result<HttpResponse> stream(const HttpRequest& request, const BodySink& sink,
                                            std::stop_token stop) = 0;
};

}  // namespace gpupool::net
