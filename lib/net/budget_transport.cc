// SPDX-License-Identifier: Apache-2.0
#include "net/budget_transport.h"

#include <algorithm>

namespace gpupool::net {

base::Result<HttpResponse> BudgetTransport::send(const HttpRequest& request, std::stop_token stop) {
  const auto limited_request = limited(request);
  if (!limited_request) return tl::unexpected<base::Error>(limited_request.error());
  return inner_.send(*limited_request, std::move(stop));
}

base::Result<HttpResponse> BudgetTransport::stream(const HttpRequest& request, const BodySink& sink,
                                                   std::stop_token stop) {
  const auto limited_request = limited(request);
  if (!limited_request) return tl::unexpected<base::Error>(limited_request.error());
  return inner_.stream(*limited_request, sink, std::move(stop));
}

base::Result<HttpRequest> BudgetTransport::limited(const HttpRequest& request) const {
  const auto budget = budget_(request);
  if (!budget) return request;
  if (*budget <= std::chrono::milliseconds::zero()) {
    return base::fail(base::ErrorCode::kCancelled, "not sent: no time is left for it");
  }
  HttpRequest shorter = request;
  shorter.timeout = shorter.timeout ? std::min(*shorter.timeout, *budget) : *budget;
  return shorter;
}

}  // namespace gpupool::net
