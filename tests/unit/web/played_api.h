// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "net/transport.h"

namespace gpupool::test {

// An API server that a test plays. Streams end with their answer. Thread-safe.
class PlayedApi final : public net::Transport {
 public:
  using Answer = std::function<net::HttpResponse(const net::HttpRequest&)>;

  explicit PlayedApi(Answer answer) : answer_(std::move(answer)) {}

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token /*stop*/) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back(request);
    return answer_(request);
  }
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override {
    auto response = send(request, std::move(stop));
    if (response && response->status == 200) sink(std::exchange(response->body, {}));
    return response;
  }

  std::vector<net::HttpRequest> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  Answer answer_;
  std::mutex mutex_;
  std::vector<net::HttpRequest> asked_;
};

// A client of it, with what it refers to.
struct PlayedClient {
  explicit PlayedClient(PlayedApi::Answer answer) : api(std::move(answer)) {}
  PlayedApi api;
  base::SystemClock clock;
  base::Metrics metrics;
  kube::Client client{api, nullptr, clock, metrics, {.max_tries = 1}};
};

}  // namespace gpupool::test
