// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "bench/support/allocations.h"
#include "net/transport.h"

namespace gpupool::bench {

// An API server without objects and with one long watch, in pieces as TLS records bring them. Only for one
// watch at a time.
class Recording final : public net::Transport {
 public:
  // count: number of events. name: of one event when instructions are counted. REQUIRES: bytes outlives this.
  Recording(std::string name, const std::string& bytes, int count)
      : name_(std::move(name)), bytes_(bytes), count_(count) {}

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

  // Waits until all events have been read. Then seconds() is the time that took.
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

// Returns the recorded event `count` times, for `objects` objects in turn.
std::string events_of(const std::string& line, int count, int objects);

}  // namespace gpupool::bench
