// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "net/endpoint.h"
#include "net/transport.h"

namespace gpupool::net {

// libcurl's global state. main creates one before any other thread starts. It must outlive all transports.
class CurlGlobal {
 public:
  CurlGlobal();
  ~CurlGlobal();
  CurlGlobal(const CurlGlobal&) = delete;
  CurlGlobal& operator=(const CurlGlobal&) = delete;
};

// HTTP/1.1 with keep-alive over libcurl. HTTP/2 is off, because libcurl 7.88.1 may report truncated parallel
// bodies as complete. The kernel detects dead peers: TCP keep-alive 30 s + 3 x 10 s, TCP_USER_TIMEOUT 45 s.
// The connect timeout is 10 s. Thread-safe: a call runs on the caller's thread, on a connection that no other
// call uses.
class CurlTransport final : public Transport {
 public:
  // user_agent: sent with every request.
  CurlTransport(Endpoint endpoint, std::string user_agent);
  ~CurlTransport() override;

  base::Result<HttpResponse> send(const HttpRequest& request, std::stop_token stop) override;
  base::Result<HttpResponse> stream(const HttpRequest& request, const BodySink& sink,
                                    std::stop_token stop) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::net
