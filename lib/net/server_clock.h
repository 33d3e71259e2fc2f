// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/clock.h"
#include "net/transport.h"

namespace gpupool::net {

// A clock with the server's wall time, so that programs on machines with wrong clocks can compare their time
// stamps. Ignores differences of up to 5 s, because a Date header has whole seconds. Thread-safe.
class ServerClock final : public base::Clock {
 public:
  // local must outlive this.
  explicit ServerClock(base::Clock& local) : local_(local) {}

  base::SteadyTime now() const override { return local_.now(); }
  base::WallTime wall() const override { return local_.wall() + ahead_.load(); }
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, std::stop_token stop,
            std::optional<base::SteadyTime> deadline, const std::function<bool()>& ready) override {
    return local_.wait(lock, changed, std::move(stop), deadline, ready);
  }

  // date: a Date header (RFC 9110, 5.6.7); took: how long the request took. Text that is no date is ignored.
  void heard(const std::string& date, base::Duration took);

 private:
  base::Clock& local_;
  std::atomic<base::WallTime::duration> ahead_{};  // server's time minus local time
};

// Passes the Date of each answer to the clock. Thread-safe.
class DatedTransport final : public Transport {
 public:
  // Both must outlive this.
  DatedTransport(Transport& inner, ServerClock& clock) : inner_(inner), clock_(clock) {}

  base::Result<HttpResponse> send(const HttpRequest& request, std::stop_token stop) override;
  base::Result<HttpResponse> stream(const HttpRequest& request, const BodySink& sink,
                                    std::stop_token stop) override;

 private:
  base::Result<HttpResponse> noted(base::SteadyTime begin, base::Result<HttpResponse> answer);

  Transport& inner_;
  ServerClock& clock_;
};

}  // namespace gpupool::net
