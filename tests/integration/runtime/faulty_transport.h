// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "net/transport.h"

namespace gpupool::test {

// A real transport whose watches are shorter and less reliable. Thread-safe.
class FaultyTransport final : public net::Transport {
 public:
  explicit FaultyTransport(net::Transport& real) : real_(real) {}

  // Asks the server to end watches after this many seconds, which it does cleanly. 0: as the client asks.
  void shorten_watches(int seconds) { watch_seconds_ = seconds; }
  // Cuts each watch after this many bytes, in the middle of a line or not. 0: never.
  void cut_watches_after(std::size_t bytes) { cut_after_ = bytes; }
  // The next watch is answered 410.
  void expire_next_watch() { expire_ = true; }

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

  int lists() const { return lists_; }
  int watches() const { return watches_; }
  int cuts() const { return cuts_; }

 private:
  net::Transport& real_;
  std::atomic<int> watch_seconds_ = 0;
  std::atomic<std::size_t> cut_after_ = 0;
  std::atomic<bool> expire_ = false;
  std::atomic<int> lists_ = 0;
  std::atomic<int> watches_ = 0;
  std::atomic<int> cuts_ = 0;
};

}  // namespace gpupool::test
