// SPDX-License-Identifier: Apache-2.0
#include "transport_factory.h"

#include <stdexcept>

#include "faults/crash_transport.h"
#include "faults/faulty_transport.h"
#include "kube/config/environment.h"
#include "net/curl_transport.h"

namespace gpupool {
namespace {

// The transports in order from the network to the program.
class TestTransport final : public net::Transport {
 public:
  TestTransport(const net::Endpoint& endpoint, const std::string& user_agent,
                const faults::FaultConfig& fault, const faults::CrashConfig& crash, base::Metrics& metrics,
                const base::Log& log)
      : wire_(endpoint, user_agent),
        plan_(fault),
        faulty_(wire_, plan_, clock_, metrics, log),
        crashing_(faulty_, crash, metrics) {}

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override {
    return crashing_.send(request, std::move(stop));
  }
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override {
    return crashing_.stream(request, sink, std::move(stop));
  }

 private:
  base::SystemClock clock_;
  net::CurlTransport wire_;
  faults::FaultPlan plan_;
  faults::FaultyTransport faulty_;
  faults::CrashTransport crashing_;
};

// A mistake in the configuration must fail; otherwise a test without faults could pass.
template <class T>
T or_throw(base::Result<T> config) {
  if (!config) throw std::invalid_argument(config.error().message);
  return *std::move(config);
}

}  // namespace

std::unique_ptr<net::Transport> make_transport(const net::Endpoint& endpoint, const std::string& user_agent,
                                               base::Metrics& metrics, const base::Log& log) {
  const auto fault = or_throw(faults::parse_faults(kube::environment("GPUPOOL_FAULTS")));
  const auto crash = or_throw(faults::parse_crash(kube::environment("GPUPOOL_CRASH")));
  log.warning("This program is for tests: it injects faults",
              {{"seed", fault.seed},
               {"rate", std::to_string(fault.rate)},
               {"crash", kube::environment("GPUPOOL_CRASH")}});
  return std::make_unique<TestTransport>(endpoint, user_agent, fault, crash, metrics, log);
}

}  // namespace gpupool
