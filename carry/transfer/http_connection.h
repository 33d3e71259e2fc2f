// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

#include "transfer/http_message.h"
#include "transfer/trust_store.h"

namespace gpupool::carry {

// HTTP/1.1 over libcurl, one request at a time. Connections are kept for the next request to the same server;
// proxies come from http_proxy, https_proxy and no_proxy. Not thread-safe: each thread has its own.
//
// REQUIRES: main has made a net::CurlGlobal.
class HttpConnection {
 public:
  explicit HttpConnection(std::shared_ptr<const TrustStore> trust);
  ~HttpConnection();
  HttpConnection(HttpConnection&&) noexcept;
  HttpConnection& operator=(HttpConnection&&) = delete;

  // Any status is an answer; redirects are not followed. `sink`, if not null, gets the body of a 2xx answer.
  // A body that ends early is a failure. Failures are those of the sink and of the request's source,
  // kStopped, kInvalid (the server's certificate is not trusted, or a header has a line break), and
  // kUnavailable for what may be different next time. Their messages do not name the URL.
  Outcome<HttpAnswer> perform(const HttpRequest& request, BodySink* sink, const std::stop_token& stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::carry
