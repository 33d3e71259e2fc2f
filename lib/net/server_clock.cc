// SPDX-License-Identifier: Apache-2.0
#include "net/server_clock.h"

#include <curl/curl.h>

namespace gpupool::net {
namespace {

using std::chrono::seconds;
// A Date has whole seconds, and the answer may be up to kSlowest old. Slower answers are ignored.
constexpr auto kSlowest = seconds(2);
constexpr auto kTolerance = seconds(5);

}  // namespace

void ServerClock::heard(const std::string& date, base::Duration took) {
  if (took > kSlowest) return;
  const auto server = curl_getdate(date.c_str(), nullptr);
  if (server <= 0) return;
  const auto ahead = std::chrono::system_clock::from_time_t(server) - local_.wall();
  const auto change = ahead - ahead_.load();
  if (change >= -kTolerance && change <= kTolerance) return;
  ahead_ = ahead >= -kTolerance && ahead <= kTolerance ? base::WallTime::duration::zero() : ahead;
}

base::Result<HttpResponse> DatedTransport::send(const HttpRequest& request, std::stop_token stop) {
  const auto begin = clock_.now();
  return noted(begin, inner_.send(request, std::move(stop)));
}

base::Result<HttpResponse> DatedTransport::stream(const HttpRequest& request, const BodySink& sink,
                                                  std::stop_token stop) {
  const auto begin = clock_.now();
  return noted(begin, inner_.stream(request, sink, std::move(stop)));
}

base::Result<HttpResponse> DatedTransport::noted(base::SteadyTime begin, base::Result<HttpResponse> answer) {
  if (!answer) return answer;
  const auto date = answer->headers.find("date");
  if (date != answer->headers.end()) clock_.heard(date->second, clock_.now() - begin);
  return answer;
}

}  // namespace gpupool::net
