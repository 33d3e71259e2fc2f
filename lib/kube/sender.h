// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <random>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/token_bucket.h"
#include "kube/call.h"
#include "kube/client.h"
#include "kube/request_metrics.h"
#include "kube/token_source.h"
#include "net/transport.h"

namespace gpupool::kube {

// Sends one request: adds the identity, waits for the rate limit, retries where that is safe (retry.h),
// counts metrics and types errors. Thread-safe; runs on the caller's thread.
class Sender {
 public:
  // tokens may be null. REQUIRES: everything referenced outlives the sender.
  Sender(net::Transport& transport, TokenSource* tokens, base::Clock& clock, base::Metrics& metrics,
         ClientOptions options);

  // Returns a 2xx answer or a typed error.
  base::Result<net::HttpResponse> send(const Call& call, const net::HttpRequest& request,
                                       const std::stop_token& stop);
  // Tries once, because a broken stream may have delivered something. Only after a 401 it tries again, with a
  // new token.
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
  base::Mutex mutex_;
  std::optional<base::TokenBucket> bucket_ GPUPOOL_GUARDED_BY(mutex_);
  std::minstd_rand random_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::kube
