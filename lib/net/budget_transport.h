// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "net/transport.h"

namespace gpupool::net {

// Shortens the timeout of each request to a budget. Does not send a request without a budget (kCancelled).
// The timeout of a stream covers its whole life. Thread-safe if `budget` is.
class BudgetTransport final : public Transport {
 public:
  // Called right before a request is sent. Returns the longest time it may take; nullopt: the request's own
  // timeout counts; zero or less: do not send it.
  using Budget = std::function<std::optional<std::chrono::milliseconds>(const HttpRequest&)>;

  // inner must outlive this.
  BudgetTransport(Transport& inner, Budget budget) : inner_(inner), budget_(std::move(budget)) {}

  base::Result<HttpResponse> send(const HttpRequest& request, std::stop_token stop) override;
  base::Result<HttpResponse> stream(const HttpRequest& request, const BodySink& sink,
                                    std::stop_token stop) override;

 private:
  base::Result<HttpRequest> limited(const HttpRequest& request) const;

  Transport& inner_;
  Budget budget_;
};

}  // namespace gpupool::net
