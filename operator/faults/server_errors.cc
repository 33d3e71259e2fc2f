// SPDX-License-Identifier: Apache-2.0
#include "faults/server_errors.h"

namespace gpupool::faults {

using net::HttpResponse;

std::string status_json(int code, const std::string& reason) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"injected","reason":")" +
         reason + R"(","code":)" + std::to_string(code) + "}";
}

HttpResponse server_error(int code, const std::string& reason) {
  return {.status = code,
          .headers = {{"content-type", "application/json"}},
          .body = status_json(code, reason) + "\n"};
}

HttpResponse proxy_error(int code) {
  return {.status = code,
          .headers = {{"content-type", "text/html"}},
          .body = "<html><body>injected</body></html>"};
}

std::optional<HttpResponse> refused_by_server(Fault fault) {
  const auto retry_after = [](HttpResponse answer) {
    answer.headers["retry-after"] = "1";
    return answer;
  };
  switch (fault) {
    case Fault::kExpired:
      return server_error(410, "Expired");
    case Fault::kGone:
      return server_error(410, "Gone");
    case Fault::kConflict:
      return server_error(409, "Conflict");
    case Fault::kThrottled:
      return retry_after(server_error(429, "TooManyRequests"));
    case Fault::kThrottledBare:
      return proxy_error(429);
    case Fault::kInternal:
      return server_error(500, "InternalError");
    case Fault::kInternalBare:
      return HttpResponse{.status = 500};
    case Fault::kUnavailable:
      return retry_after(server_error(503, "ServiceUnavailable"));
    case Fault::kUnauthorized:
      return server_error(401, "Unauthorized");
    default:
      return std::nullopt;
  }
}

}  // namespace gpupool::faults
