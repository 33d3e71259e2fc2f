// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <stop_token>
#include <string>

#include "net/base_url.h"
#include "net/curl_exchange.h"
#include "net/endpoint.h"

struct curl_slist;

namespace gpupool::net {

// The settings that all requests of a transport share.
struct CurlTarget {
  BaseUrl url;
  std::string proxy_url;
  std::string user_agent;
  bool compression = false;
};

// One connection, kept alive between requests. It is a libcurl easy handle in its own multi handle, because
// only a multi handle can be woken from another thread. Not thread-safe; one request at a time.
class CurlConnection {
 public:
  // target must outlive this.
  CurlConnection(const CurlTarget& target, std::shared_ptr<const TlsMaterial> tls);

  // Rethrows what the sink threw.
  base::Result<HttpResponse> perform(CurlExchange& exchange, const std::stop_token& stop);

  const std::shared_ptr<const TlsMaterial>& tls() const { return tls_; }

 private:
  // curl.h declares CURL and CURLM as void.
  struct EasyCleanup {
    void operator()(void* easy) const;
  };
  struct MultiCleanup {
    void operator()(void* multi) const;
  };
  struct ListCleanup {
    void operator()(curl_slist* list) const;
  };
  using List = std::unique_ptr<curl_slist, ListCleanup>;
  enum class Outcome { kDone, kStopped, kIdle };

  std::string full_url(const HttpRequest& request) const;
  base::Result<void> configure(CurlExchange& exchange);
  base::Result<void> set_headers(const HttpRequest& request);
  Outcome run(const CurlExchange& exchange, const std::stop_token& stop);
  base::Result<HttpResponse> finish(CurlExchange& exchange, Outcome outcome);
  bool overrides_server_name() const;

  const CurlTarget& target_;
  std::shared_ptr<const TlsMaterial> tls_;
  std::array<char, 256> error_{};  // CURL_ERROR_SIZE
  List headers_;
  List connect_to_;
  std::unique_ptr<void, MultiCleanup> multi_;
  std::unique_ptr<void, EasyCleanup> easy_;
};

}  // namespace gpupool::net
