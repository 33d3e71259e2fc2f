// SPDX-License-Identifier: Apache-2.0
#include "faults/faulty_transport.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "faults/faulty_lines.h"
#include "faults/server_errors.h"

namespace gpupool::faults {
namespace {

using base::ErrorCode;
using net::HttpRequest;
using net::HttpResponse;
using std::chrono::milliseconds;

constexpr milliseconds kStall{2000};

// Returns 100 ms to 1.3 s.
milliseconds pause(std::uint64_t random) { return milliseconds(100 + random % 1200); }

bool is_success(const HttpResponse& answer) { return answer.status >= 200 && answer.status < 300; }

std::string_view name_of(Fault fault) {
  const auto kinds = fault_kinds();
  const auto found = std::ranges::find(kinds, fault, &FaultKind::fault);
  return found == kinds.end() ? "unknown" : found->name;
}

}  // namespace

FaultyTransport::FaultyTransport(net::Transport& inner, FaultPlan& plan, base::Clock& clock,
                                 base::Metrics& metrics, const base::Log& log)
    : inner_(inner), plan_(plan), clock_(clock), metrics_(metrics), log_(log) {}

base::Result<HttpResponse> FaultyTransport::send(const HttpRequest& request, std::stop_token stop) {
  const auto fault = plan_.decide(place_of(request), key_of(request));
  if (!fault) return inner_.send(request, std::move(stop));
  note(fault->fault, request);
  return suffer(*fault, request, stop);
}

base::Result<HttpResponse> FaultyTransport::suffer(const FaultPlan::Decision& fault,
                                                   const HttpRequest& request, const std::stop_token& stop) {
  if (fault.fault == Fault::kRefused)
    return base::fail(ErrorCode::kTransport, "injected: connection refused");
  if (auto refusal = refused_by_server(fault.fault)) return *refusal;
  auto answer = inner_.send(request, stop);
  if (!answer) return answer;
  return spoil(fault, *std::move(answer), stop);
}

base::Result<HttpResponse> FaultyTransport::spoil(const FaultPlan::Decision& fault, HttpResponse answer,
                                                  const std::stop_token& stop) {
  switch (fault.fault) {
    case Fault::kReset:
      return base::fail(ErrorCode::kTransport, "injected: connection reset");
    case Fault::kCut:
      return base::fail(ErrorCode::kTransport, "injected: the connection ended within the body");
    case Fault::kStall:
      clock_.sleep_for(kStall, stop);
      return base::fail(ErrorCode::kTimeout, "injected: no answer in time");
    case Fault::kSlow:
    case Fault::kStaleList:
      clock_.sleep_for(pause(fault.random), stop);
      return answer;
    case Fault::kTruncated:
      if (is_success(answer) && !answer.body.empty()) answer.body.resize(fault.random % answer.body.size());
      return answer;
    case Fault::kExists:
      if (!is_success(answer)) return answer;
      return server_error(409, "AlreadyExists");
    case Fault::kServerTimeout:
      return server_error(504, "Timeout");
    default:
      return proxy_error(504);
  }
}

base::Result<HttpResponse> FaultyTransport::stream(const HttpRequest& request, const net::BodySink& sink,
                                                   std::stop_token stop) {
  return place_of(request) == kWatch ? watch(request, sink, stop) : list(request, sink, stop);
}

base::Result<HttpResponse> FaultyTransport::list(const HttpRequest& request, const net::BodySink& sink,
                                                 const std::stop_token& stop) {
  const auto fault = plan_.decide(place_of(request), key_of(request));
  if (!fault) return inner_.stream(request, sink, stop);
  note(fault->fault, request);
  // A list is cut in the same way whether or not the transport reports it.
  const bool noticed = fault->fault == Fault::kCut;
  auto answer =
      suffer(noticed ? FaultPlan::Decision{Fault::kTruncated, fault->random} : *fault, request, stop);
  if (!answer || !is_success(*answer)) return answer;
  if (!sink(std::exchange(answer->body, {}))) return base::fail(ErrorCode::kCancelled, "ended by the reader");
  if (noticed) return base::fail(ErrorCode::kTransport, "injected: the connection ended within the body");
  return answer;
}

base::Result<HttpResponse> FaultyTransport::watch(const HttpRequest& request, const net::BodySink& sink,
                                                  const std::stop_token& stop) {
  const auto fault = plan_.decide(kWatch, key_of(request));
  bool drip = false;
  if (fault) {
    note(fault->fault, request);
    if (fault->fault == Fault::kRefused) {
      return base::fail(ErrorCode::kTransport, "injected: connection refused");
    }
    if (auto refusal = refused_by_server(fault->fault)) return *refusal;
    drip = true;
  }
  FaultyLines lines(plan_, key_of(request), sink, clock_, stop, drip,
                    [&](Fault line_fault) { note(line_fault, request); });
  auto answer = inner_.stream(request, [&](std::string_view piece) { return lines.feed(piece); }, stop);
  if (lines.end()) {  // a fault ended the stream: the reader gets its error, not the transport's
    if (*lines.end() == Fault::kReset) return base::fail(ErrorCode::kTransport, "injected: connection reset");
    return HttpResponse{.status = 200};
  }
  return answer;
}

void FaultyTransport::note(Fault fault, const HttpRequest& request) {
  metrics_
      .counter("gpupool_faults_injected_total", "Faults that this program for tests has injected",
               {{"kind", std::string(name_of(fault))}})
      .increment();
  log_.info("Injected a fault", {{"fault", name_of(fault)}, {"call", key_of(request)}});
}

}  // namespace gpupool::faults
