// SPDX-License-Identifier: Apache-2.0
#include "net/curl_transport.h"

#include <curl/curl.h>

#include <csignal>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "net/curl_connection.h"
#include "net/tls_cache.h"

namespace gpupool::net {

namespace {

constexpr std::size_t kMaxIdleConnections = 25;  // as client-go

// Idle connections made with the newest TLS material. Thread-safe.
class Pool {
 public:
  // Returns null if there is none for `tls`. Closes connections made with other material.
  std::unique_ptr<CurlConnection> take(const std::shared_ptr<const TlsMaterial>& tls) {
    std::vector<std::unique_ptr<CurlConnection>> outdated;  // closed after the lock is given back
    const base::MutexLock lock(mutex_);
    if (newest_ != tls) outdated.swap(idle_);
    newest_ = tls;
    if (idle_.empty()) return nullptr;
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }

  void give_back(std::unique_ptr<CurlConnection> connection) {
    const base::MutexLock lock(mutex_);
    if (connection->tls() == newest_ && idle_.size() < kMaxIdleConnections) {
      idle_.push_back(std::move(connection));
    }
  }

 private:
  base::Mutex mutex_;
  std::shared_ptr<const TlsMaterial> newest_ GPUPOOL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<CurlConnection>> idle_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace

CurlGlobal::CurlGlobal() {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that closes a connection must not end the process
  curl_global_init(CURL_GLOBAL_DEFAULT);
}

CurlGlobal::~CurlGlobal() { curl_global_cleanup(); }

struct CurlTransport::Impl {
  Impl(Endpoint endpoint, std::string user_agent) : tls(std::move(endpoint.tls)) {
    auto url = parse_base_url(endpoint.url);
    if (url) {
      target.url = std::move(*url);
    } else {
      bad_url = std::move(url.error());
    }
    target.proxy_url = std::move(endpoint.proxy_url);
    target.user_agent = std::move(user_agent);
    target.compression = endpoint.compression;
  }

  base::Result<std::unique_ptr<CurlConnection>> new_connection() {
    if (bad_url) return tl::unexpected<base::Error>(*bad_url);
    auto material = tls.get(std::chrono::steady_clock::now(), true);
    if (!material) return tl::unexpected<base::Error>(std::move(material.error()));
    return std::make_unique<CurlConnection>(target, std::move(*material));
  }

  base::Result<std::unique_ptr<CurlConnection>> connection() {
    if (bad_url) return tl::unexpected<base::Error>(*bad_url);
    auto material = tls.get(std::chrono::steady_clock::now(), false);
    if (!material) return tl::unexpected<base::Error>(std::move(material.error()));
    if (auto pooled = pool.take(*material)) return pooled;
    return new_connection();
  }

  CurlTarget target;
  std::optional<base::Error> bad_url;
  TlsCache tls;
  Pool pool;
};

CurlTransport::CurlTransport(Endpoint endpoint, std::string user_agent)
    : impl_(std::make_unique<Impl>(std::move(endpoint), std::move(user_agent))) {}

CurlTransport::~CurlTransport() = default;

base::Result<HttpResponse> CurlTransport::send(const HttpRequest& request, std::stop_token stop) {
  auto connection = impl_->connection();
  if (!connection) return tl::unexpected<base::Error>(std::move(connection.error()));
  CurlExchange exchange(request, nullptr);
  auto response = (*connection)->perform(exchange, stop);
  if (response) impl_->pool.give_back(std::move(*connection));
  return response;
}

base::Result<HttpResponse> CurlTransport::stream(const HttpRequest& request, const BodySink& sink,
                                                 std::stop_token stop) {
  auto connection = impl_->new_connection();
  if (!connection) return tl::unexpected<base::Error>(std::move(connection.error()));
  CurlExchange exchange(request, &sink);
  return (*connection)->perform(exchange, stop);
}

}  // namespace gpupool::net
