// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runtime/scripted_transport.h"

#include <chrono>
#include <utility>

namespace gpupool::test {

void ScriptedTransport::push(Step step) {
  const std::scoped_lock lock(mutex_);
  script_.push_back(std::move(step));
  changed_.notify_all();
}

void ScriptedTransport::answer(int status, std::string body) {
  push({net::HttpResponse{.status = status, .body = std::move(body)}});
}

void ScriptedTransport::fail(base::ErrorCode code) { push({base::fail(code, "scripted failure")}); }

void ScriptedTransport::lines(const std::vector<std::string>& lines, std::optional<base::ErrorCode> end) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  part(std::move(text), end);
}

void ScriptedTransport::part(std::string text, std::optional<base::ErrorCode> end) {
  Step step{.answer = net::HttpResponse{.status = 200}, .body = std::move(text)};
  if (end) step.answer = base::fail(*end, "scripted failure");
  push(std::move(step));
}

void ScriptedTransport::answer_rest(int status, std::string body) {
  const std::scoped_lock lock(mutex_);
  rest_ = Step{net::HttpResponse{.status = status, .body = std::move(body)}};
}

void ScriptedTransport::hang() { push({.answer = net::HttpResponse{}, .hang = true}); }

ScriptedTransport::Step ScriptedTransport::next(const net::HttpRequest& request, std::stop_token stop) {
  const Step cancelled{base::fail(base::ErrorCode::kCancelled, "stopped")};
  std::unique_lock lock(mutex_);
  sent_.push_back(request);
  changed_.notify_all();
  if (script_.empty() && rest_) return *rest_;
  if (!changed_.wait(lock, stop, [this] { return !script_.empty(); })) return cancelled;
  Step step = std::move(script_.front());
  script_.pop_front();
  if (!step.hang) return step;
  changed_.wait(lock, stop, [] { return false; });
  return cancelled;
}

base::Result<net::HttpResponse> ScriptedTransport::send(const net::HttpRequest& request,
                                                        std::stop_token stop) {
  return next(request, std::move(stop)).answer;
}

base::Result<net::HttpResponse> ScriptedTransport::stream(const net::HttpRequest& request,
                                                          const net::BodySink& sink, std::stop_token stop) {
  auto step = next(request, std::move(stop));
  if (step.answer && step.answer->status == 200) step.body += std::exchange(step.answer->body, {});
  if (!step.body.empty() && !sink(step.body))
    return base::fail(base::ErrorCode::kCancelled, "the sink had enough");
  return step.answer;
}

bool ScriptedTransport::wait_for_requests(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return sent_.size() >= count; });
}

std::vector<net::HttpRequest> ScriptedTransport::sent() const {
  const std::scoped_lock lock(mutex_);
  return sent_;
}

}  // namespace gpupool::test
