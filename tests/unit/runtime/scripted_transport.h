// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/transport.h"

namespace gpupool::test {

// Returns scripted answers in order. When none is left, a request waits for another one or for stop, like a
// watch of a kind without changes. Thread-safe.
class ScriptedTransport final : public net::Transport {
 public:
  void answer(int status, std::string body);
  void fail(base::ErrorCode code);
  // The lines of a watch, and how it ends.
  void lines(const std::vector<std::string>& lines, std::optional<base::ErrorCode> end = std::nullopt);
  // A stream of any text, and how it ends.
  void part(std::string text, std::optional<base::ErrorCode> end);
  // Answers all requests after the end of the script.
  void answer_rest(int status, std::string body);
  // The next request is not answered until stop.
  void hang();

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

  // Blocks until this number of requests was sent; false after 30 s.
  [[nodiscard]] bool wait_for_requests(std::size_t count);
  std::vector<net::HttpRequest> sent() const;

 private:
  struct Step {
    base::Result<net::HttpResponse> answer;
    std::string body = {};
    bool hang = false;
  };
  Step next(const net::HttpRequest& request, std::stop_token stop);
  void push(Step step);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Step> script_;
  std::optional<Step> rest_;
  std::vector<net::HttpRequest> sent_;
};

}  // namespace gpupool::test
