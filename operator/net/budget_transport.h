#pragma once

#include <functional>
#include <utility>

#include "net/transport.h"

namespace gpupool::net {

// Lets every request take no longer than it may. One that may take no time at all is not sent (kCancelled);
// a stream's whole life counts. Thread-safe if the budget is.
class BudgetTransport final : public Transport {
 public:
  // Asked right before a request is sent. Nothing: as long as the request says; zero or less: not at all.
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
