#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "bench/support/allocations.h"
#include "net/transport.h"

namespace gpupool::bench {

// An API server with no objects and one long watch, in pieces as TLS records bring them. Not for two watches
// at once.
class Recording final : public net::Transport {
 public:
  // So many events, which must outlive it, and what one is called when instructions are counted.
  Recording(std::string name, const std::string& bytes, int count)
      : name_(std::move(name)), bytes_(bytes), count_(count) {}

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

  // Until all has been taken; then what it took.
  void wait() { done_.wait(false); }
  double seconds() const { return seconds_; }
  std::int64_t allocations() const { return heap_after_.calls - heap_before_.calls; }

 private:
  std::string name_;
  const std::string& bytes_;
  int count_;
  std::atomic<bool> done_ = false;
  double seconds_ = 0;
  Heap heap_before_;
  Heap heap_after_;
};

// The first line of a file; empty if there is none.
std::string read_line(const std::string& path);

// The recorded event so many times, for so many objects in turn.
std::string events_of(const std::string& line, int count, int objects);

}  // namespace gpupool::bench
