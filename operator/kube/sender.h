#pragma once

#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/token_bucket.h"
#include "kube/call.h"
#include "kube/client.h"
#include "kube/request_metrics.h"
#include "kube/token_source.h"
#include "net/transport.h"

namespace gpupool::kube {

// Sends one request as often as it takes and is safe: identity, rate limit, retries, metrics, typed errors.
// Thread-safe.
class Sender {
 public:
  // Everything referenced must outlive the sender; tokens may be null.
  Sender(net::Transport& transport, TokenSource* tokens, base::Clock& clock, base::Metrics& metrics,
         ClientOptions options);

  // A 2xx answer, or a typed error.
  base::Result<net::HttpResponse> send(const Call& call, const net::HttpRequest& request,
                                       const std::stop_token& stop);
  // One try, because a stream that broke may have delivered something; only a 401 is answered with a new
  // token.
  base::Result<net::HttpResponse> stream(const Call& call, const net::HttpRequest& request,
                                         const net::BodySink& sink, const std::stop_token& stop);

 private:
  base::Result<net::HttpResponse> send_authorized(const Call& call, const net::HttpRequest& request,
                                                  const net::BodySink* sink, const std::stop_token& stop);
  base::Result<net::HttpResponse> send_once(const Call& call, const net::HttpRequest& request,
                                            const std::string& token, const net::BodySink* sink,
                                            const std::stop_token& stop);
  base::Result<void> add_identity(const std::string& token, net::HttpRequest& request) const;
  bool wait_for_turn(const std::stop_token& stop);
  double random();

  net::Transport& transport_;
  TokenSource* tokens_;
  base::Clock& clock_;
  RequestMetrics metrics_;
  ClientOptions options_;
  std::mutex mutex_;  // guards the rest
  std::optional<base::TokenBucket> bucket_;
  std::minstd_rand random_;
};

}  // namespace gpupool::kube
