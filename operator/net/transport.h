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
  std::string target;  // path and query, percent-encoded, beginning with '/'; the server is the transport's
  std::vector<Header> headers = {};
  std::string body = {};
  // From the call to the last byte. None for watches: those end by keep-alive, by the idle limit or by stop.
  std::optional<std::chrono::milliseconds> timeout = std::chrono::seconds(60);
  // A stream with no byte for this long is dead. Only for streams.
  std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt;
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};                            // empty for a stream that was delivered in pieces
};

// Takes pieces of a 2xx body as they arrive, of any size; false ends the stream (kCancelled).
using BodySink = std::function<bool(std::string_view piece)>;

// Sends requests to one server. Thread-safe: each call uses a connection of its own from a pool, or a new
// one. Errors are kTransport, kTimeout or kCancelled; any HTTP status is an answer, not an error. A stop
// request ends a call at once. Never follows redirects and never repeats a request that has a body; one
// without may be sent again when a reused connection dies before the first byte of an answer.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual base::Result<HttpResponse> send(const HttpRequest& request, std::stop_token stop) = 0;

  // For a 2xx answer the body goes to `sink` piece by piece; any other answer's body is returned (at most 1
  // MiB of it). Returns when the server ends the body. Streams do not share connections with send().
  virtual base::Result<HttpResponse> stream(const HttpRequest& request, const BodySink& sink,
                                            std::stop_token stop) = 0;
};

}  // namespace gpupool::net
