#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "faults/fault_plan.h"
#include "net/transport.h"

namespace gpupool::faults {

// Does to requests and answers what networks, proxies and API servers do. Only what a client may meet without
// any fault of its own; nothing here makes an object up. Thread-safe.
class FaultyTransport final : public net::Transport {
 public:
  // Everything referenced must outlive this.
  FaultyTransport(net::Transport& inner, FaultPlan& plan, base::Clock& clock, base::Metrics& metrics,
                  const base::Log& log);

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

 private:
  base::Result<net::HttpResponse> watch(const net::HttpRequest& request, const net::BodySink& sink,
                                        const std::stop_token& stop);
  // In one piece, if it has a fault.
  base::Result<net::HttpResponse> list(const net::HttpRequest& request, const net::BodySink& sink,
                                       const std::stop_token& stop);
  base::Result<net::HttpResponse> suffer(const FaultPlan::Decision& fault, const net::HttpRequest& request,
                                         const std::stop_token& stop);
  // What an answer that the server gave becomes.
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
