// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "net/transport.h"

namespace gpupool::test {

// Returns scripted answers in order and records what was sent. Without a scripted answer, a request gets a
// kTransport error that says so. Thread-safe.
class FakeTransport final : public net::Transport {
 public:
  void answer(int status, std::string body, std::map<std::string, std::string> headers = {});
  void fail(base::ErrorCode code);
  // For streams: a 2xx answer whose body arrives in these pieces, followed by `end`.
  void pieces(std::vector<std::string> pieces, base::Result<void> end = {});
  // Called before each answer, without a lock.
  std::function<void(const net::HttpRequest&)> on_request;

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

  std::vector<net::HttpRequest> sent() const;

 private:
  struct Script {
    base::Result<net::HttpResponse> answer;
    std::vector<std::string> pieces = {};
  };
  Script next(const net::HttpRequest& request);

  mutable std::mutex mutex_;
  std::deque<Script> script_;
  std::vector<net::HttpRequest> sent_;
};

// The header's values joined with ',', or an empty string.
std::string header(const net::HttpRequest& request, const std::string& name);

}  // namespace gpupool::test
