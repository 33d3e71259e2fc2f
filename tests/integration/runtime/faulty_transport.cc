// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/runtime/faulty_transport.h"

#include <utility>

namespace gpupool::test {

namespace {

constexpr std::string_view kTimeout = "timeoutSeconds=";

std::string with_timeout(std::string target, int seconds) {
  const auto start = target.find(kTimeout);
  if (seconds == 0 || start == std::string::npos) return target;
  const auto value = start + kTimeout.size();
  const auto end = target.find('&', value);
  return target.replace(value, end == std::string::npos ? end : end - value, std::to_string(seconds));
}

}  // namespace

base::Result<net::HttpResponse> FaultyTransport::send(const net::HttpRequest& request, std::stop_token stop) {
  return real_.send(request, std::move(stop));
}

base::Result<net::HttpResponse> FaultyTransport::stream(const net::HttpRequest& request,
                                                        const net::BodySink& sink, std::stop_token stop) {
  if (request.target.find("watch=") == std::string::npos) {
    ++lists_;
    return real_.stream(request, sink, std::move(stop));
  }
  ++watches_;
  if (expire_.exchange(false)) {
    return net::HttpResponse{
        .status = 410,
        .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410})"};
  }
  auto changed = request;
  changed.target = with_timeout(request.target, watch_seconds_);
  std::size_t left = cut_after_ == 0 ? std::string::npos : cut_after_.load();
  bool cut = false;
  auto result = real_.stream(
      changed,
      [&](std::string_view piece) {
        cut = piece.size() > left;
        const auto part = piece.substr(0, left);
        left -= left == std::string::npos ? 0 : part.size();
        return sink(part) && !cut;
      },
      std::move(stop));
  if (!cut) return result;
  ++cuts_;
  return base::fail(base::ErrorCode::kTransport, "cut by the test");
}

}  // namespace gpupool::test
