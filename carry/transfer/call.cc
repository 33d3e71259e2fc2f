// SPDX-License-Identifier: Apache-2.0
#include "transfer/call.h"

#include <utility>

#include "transfer/refusal.h"
#include "transfer/url.h"

namespace gpupool::carry {

Outcome<HttpAnswer> call(HttpConnection& connection, Protocol& protocol, const Call& call,
                         const Waiting& waiting, const std::stop_token& stop) {
  Pace pace(call.deadline, waiting);
  Amends amends;
  while (true) {
    const auto url = parse_url(protocol.url(call.target));
    if (!url) return tl::unexpected(url.error());
    HttpRequest request{.method = call.method,
                        .url = url->text,
                        .headers = call.headers,
                        .body = call.body,
                        .source = call.source,
                        .time_left = pace.left(),
                        .idle = call.idle};
    auto added = protocol.sign(request);
    if (!added) return tl::unexpected(added.error());
    request.headers.insert(request.headers.end(), added->begin(), added->end());
    auto answer = connection.perform(request, nullptr, stop);
    if (answer && answer->status >= 200 && answer->status < 300) return answer;
    Failure last;
    std::optional<std::chrono::milliseconds> least;
    if (answer) {
      auto amended = protocol.amend(*answer, amends);
      if (!amended) return tl::unexpected(amended.error());
      if (*amended) continue;
      last = refusal(*answer, url->shown, protocol);
      least = retry_after(*answer, pace.wall());
    } else {
      last = std::move(answer.error());
      last.message = url->shown + ": " + last.message;
    }
    if (auto waited = pace.wait(last, least, stop); !waited) return tl::unexpected(waited.error());
  }
}

}  // namespace gpupool::carry
