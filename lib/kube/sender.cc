// SPDX-License-Identifier: Apache-2.0
#include "kube/sender.h"

#include <algorithm>
#include <utility>

#include "kube/api_error.h"
#include "kube/retry.h"

namespace gpupool::kube {
namespace {

tl::unexpected<base::Error> cancelled(const Call& call) {
  return base::fail(base::ErrorCode::kCancelled, call.describe() + ": cancelled");
}

// A line break in a value could add headers.
bool is_header_value(const std::string& value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return (c >= ' ' && c != 0x7f) || c == '\t'; });
}

}  // namespace

Sender::Sender(net::Transport& transport, TokenSource* tokens, base::Clock& clock, base::Metrics& metrics,
               ClientOptions options)
    : transport_(transport),
      tokens_(tokens),
      clock_(clock),
      metrics_(metrics),
      options_(std::move(options)),
      random_(std::random_device{}()) {
  if (options_.qps > 0) bucket_.emplace(options_.qps, std::max(1.0, options_.burst));
}

base::Result<net::HttpResponse> Sender::send(const Call& call, const net::HttpRequest& request,
                                             const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    auto answer = send_authorized(call, request, nullptr, stop);
    if (answer || answer.error().code == base::ErrorCode::kCancelled) return answer;
    const RetryState state{call.is_read(), tries, options_.max_tries, random()};
    const auto delay = retry_delay(state, answer.error());
    if (!delay) return answer;
    if (!clock_.sleep_for(*delay, stop)) return cancelled(call);
    metrics_.retried(request.method);
  }
}

base::Result<net::HttpResponse> Sender::stream(const Call& call, const net::HttpRequest& request,
                                               const net::BodySink& sink, const std::stop_token& stop) {
  return send_authorized(call, request, &sink, stop);
}

base::Result<net::HttpResponse> Sender::send_authorized(const Call& call, const net::HttpRequest& request,
                                                        const net::BodySink* sink,
                                                        const std::stop_token& stop) {
  if (tokens_ == nullptr) return send_once(call, request, {}, sink, stop);
  const auto token = tokens_->token(stop);
  if (!token) return base::in_context(token.error(), call.describe());
  auto answer = send_once(call, request, *token, sink, stop);
  if (answer || answer.error().code != base::ErrorCode::kUnauthorized) return answer;

  // The server has done nothing, so a write may be sent again too. An exec plugin's client certificate comes
  // without a token.
  tokens_->invalidate(*token);
  const auto renewed = tokens_->token(stop);
  if (!renewed) return base::in_context(renewed.error(), answer.error().message);
  if (*renewed == *token && !token->empty()) return answer;
  metrics_.retried(request.method);
  return send_once(call, request, *renewed, sink, stop);
}

base::Result<net::HttpResponse> Sender::send_once(const Call& call, const net::HttpRequest& request,
                                                  const std::string& token, const net::BodySink* sink,
                                                  const std::stop_token& stop) {
  net::HttpRequest full = request;
  if (auto added = add_identity(token, full); !added) return base::in_context(added.error(), call.describe());
  const bool is_watch = call.verb == "watch";
  if (!is_watch && !wait_for_turn(stop)) return cancelled(call);

  const base::SteadyTime begin = clock_.now();
  bool streaming = false;
  const net::BodySink noting_sink = [&](std::string_view piece) {
    streaming = true;
    return (*sink)(piece);
  };
  auto answer = sink == nullptr ? transport_.send(full, stop) : transport_.stream(full, noting_sink, stop);
  if (!is_watch) metrics_.took(call.verb, clock_.now() - begin);
  if (!answer) {
    metrics_.sent(full.method, streaming ? 200 : 0);
    return base::in_context(answer.error(), call.describe());
  }
  metrics_.sent(full.method, answer->status);
  if (answer->status < 200 || answer->status > 299) {
    return tl::unexpected<base::Error>(api_error(call, *answer));
  }
  return answer;
}

base::Result<void> Sender::add_identity(const std::string& token, net::HttpRequest& request) const {
  if (!token.empty()) request.headers.push_back({"Authorization", "Bearer " + token});
  if (!options_.impersonate_user.empty()) {
    request.headers.push_back({"Impersonate-User", options_.impersonate_user});
    for (const std::string& group : options_.impersonate_groups) {
      request.headers.push_back({"Impersonate-Group", group});
    }
  }
  for (const net::Header& header : request.headers) {
    if (!is_header_value(header.value)) {
      // The message does not contain the value, because it may be a secret.
      return base::fail(base::ErrorCode::kInvalidArgument,
                        "the value for the header " + header.name + " contains control characters");
    }
  }
  return {};
}

bool Sender::wait_for_turn(const std::stop_token& stop) {
  base::Duration wait{};
  {
    const base::MutexLock lock(mutex_);
    if (!bucket_) return true;
    wait = bucket_->reserve(clock_.now());
  }
  return wait <= base::Duration::zero() || clock_.sleep_for(wait, stop);
}

double Sender::random() {
  const base::MutexLock lock(mutex_);
  return std::uniform_real_distribution<double>(0, 1)(random_);
}

}  // namespace gpupool::kube
