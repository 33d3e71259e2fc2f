// SPDX-License-Identifier: Apache-2.0
#include "kube/api_error.h"

#include "kube/retry.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace api = gpupool::api;
namespace base = gpupool::base;
namespace kube = gpupool::kube;

namespace {

constexpr api::ResourceType kServerPods{"", "v1", "pods", "Pod", true};

void check(const base::Error& error) {
  gpupool::fuzz::require_explained(error);
  if (error.retry_after) require(error.retry_after->count() >= 0, "nobody waits for less than no time");
  const auto delay = kube::retry_delay({true, 1, 5, 0.5}, error);
  if (delay)
    require(*delay >= base::Duration::zero() && *delay < std::chrono::minutes(1), "no thread waits long");
}

}  // namespace

// The HTTP status, the Retry-After header, and the body, a line each.
void fuzz_api_error(std::string_view input) {
  gpupool::net::HttpResponse response;
  response.status = 300 + static_cast<int>(gpupool::fuzz::take_byte(input));
  response.headers["retry-after"] = gpupool::fuzz::take_line(input);
  response.body = input;
  const kube::Call get{.verb = "get", .type = &kServerPods, .ns = "ns", .name = "name"};
  check(kube::api_error(get, response));
  response.headers.clear();
  check(kube::api_error(get, response));
  const auto alone = kube::status_error(input);
  if (alone.code == base::ErrorCode::kParse) gpupool::fuzz::require_explained(alone);
}
