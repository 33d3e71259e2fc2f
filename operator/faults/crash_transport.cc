// SPDX-License-Identifier: Apache-2.0
#include "faults/crash_transport.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "faults/fault_plan.h"

namespace gpupool::faults {

CrashTransport::CrashTransport(net::Transport& inner, CrashConfig config, base::Metrics& metrics)
    : inner_(inner),
      config_(config),
      calls_(metrics.counter("gpupool_faults_calls_total", "Requests begun, watches excepted")) {}

base::Result<net::HttpResponse> CrashTransport::send(const net::HttpRequest& request, std::stop_token stop) {
  return count([&] { return inner_.send(request, std::move(stop)); });
}

base::Result<net::HttpResponse> CrashTransport::stream(const net::HttpRequest& request,
                                                       const net::BodySink& sink, std::stop_token stop) {
  const auto call = [&] { return inner_.stream(request, sink, std::move(stop)); };
  return place_of(request) == kWatch ? call() : count(call);
}

base::Result<net::HttpResponse> CrashTransport::count(
    const std::function<base::Result<net::HttpResponse>()>& call) {
  calls_.increment();
  const bool last = ++count_ == config_.call;
  if (last && !config_.after) kill(getpid(), SIGKILL);
  auto answer = call();
  if (last) kill(getpid(), SIGKILL);
  return answer;
}

}  // namespace gpupool::faults
