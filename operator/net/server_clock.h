#pragma once

#include <atomic>

#include "base/clock.h"
#include "net/transport.h"

namespace gpupool::net {

// A clock whose wall time is the server's, so that what one program stamps another can reckon with, however
// wrong the clock of its machine is. Differences that a Date header cannot show are ignored. Thread-safe.
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

  // date: the value of a Date header (RFC 9110, 5.6.7) of an answer that took so long; rubbish is ignored.
  void heard(const std::string& date, base::Duration took);

 private:
  base::Clock& local_;
  std::atomic<base::WallTime::duration> ahead_{};  // of the server
};

// Tells the clock of each answer's date. Thread-safe.
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
