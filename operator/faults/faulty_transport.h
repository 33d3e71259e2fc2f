// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "faults/fault_plan.h"
#include "net/transport.h"

namespace gpupool::faults {

// Injects faults of networks, proxies and API servers into requests and answers: only what a correct client
// can meet; objects are never made up. Thread-safe.
class FaultyTransport final : public net::Transport {
 public:
  // REQUIRES: everything referenced outlives this.
  FaultyTransport(net::Transport& inner, FaultPlan& plan, base::Clock& clock, base::Metrics& metrics,
                  const base::Log& log);

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

 private:
  base::Result<net::HttpResponse> watch(const net::HttpRequest& request, const net::BodySink& sink,
                                        const std::stop_token& stop);
  // Delivers a list with a fault in one piece.
  base::Result<net::HttpResponse> list(const net::HttpRequest& request, const net::BodySink& sink,
                                       const std::stop_token& stop);
  base::Result<net::HttpResponse> suffer(const FaultPlan::Decision& fault, const net::HttpRequest& request,
                                         const std::stop_token& stop);
  // Applies the fault to an answer of the server.
  base::Result<net::HttpResponse> spoil(const FaultPlan::Decision& fault, net::HttpResponse answer,
                                        const std::stop_token& stop);
  void note(Fault fault, const net::HttpRequest& request);

  net::Transport& inner_;
  FaultPlan& plan_;
  base::Clock& clock_;
  base::Metrics& metrics_;
  base::Log log_;
};

}  // namespace gpupool::faults
