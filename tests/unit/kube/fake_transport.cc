// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kube/fake_transport.h"

#include <utility>

namespace gpupool::test {

void FakeTransport::answer(int status, std::string body, std::map<std::string, std::string> headers) {
  const std::lock_guard lock(mutex_);
  script_.push_back({net::HttpResponse{status, std::move(headers), std::move(body)}});
}

void FakeTransport::fail(base::ErrorCode code) {
  const std::lock_guard lock(mutex_);
  script_.push_back({base::fail(code, "scripted")});
}

void FakeTransport::pieces(std::vector<std::string> pieces, base::Result<void> end) {
  const std::lock_guard lock(mutex_);
  base::Result<net::HttpResponse> answer = net::HttpResponse{200, {}, {}};
  if (!end) answer = tl::unexpected<base::Error>(end.error());
  script_.push_back({std::move(answer), std::move(pieces)});
}

FakeTransport::Script FakeTransport::next(const net::HttpRequest& request) {
  if (on_request) on_request(request);
  const std::lock_guard lock(mutex_);
  sent_.push_back(request);
  if (script_.empty()) return {base::fail(base::ErrorCode::kTransport, "the script is at its end")};
  Script script = std::move(script_.front());
  script_.pop_front();
  return script;
}

base::Result<net::HttpResponse> FakeTransport::send(const net::HttpRequest& request, std::stop_token) {
  return next(request).answer;
}

base::Result<net::HttpResponse> FakeTransport::stream(const net::HttpRequest& request,
                                                      const net::BodySink& sink, std::stop_token) {
  Script script = next(request);
  for (const std::string& piece : script.pieces) {
    if (!sink(piece)) return base::fail(base::ErrorCode::kCancelled, "the sink ended the stream");
  }
  return script.answer;
}

std::vector<net::HttpRequest> FakeTransport::sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

std::string header(const net::HttpRequest& request, const std::string& name) {
  std::string values;
  for (const net::Header& candidate : request.headers) {
    if (candidate.name == name) values += (values.empty() ? "" : ",") + candidate.value;
  }
  return values;
}

}  // namespace gpupool::test
