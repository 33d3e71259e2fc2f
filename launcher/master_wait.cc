// SPDX-License-Identifier: Apache-2.0
#include "launcher/master_wait.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "launcher/deadline.h"
#include "launcher/log.h"
#include "launcher/resolve.h"
#include "launcher/tcp_probe.h"

namespace gpupool::launcher {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{20};
constexpr milliseconds kLongestProbePause{500};
constexpr int kConnectTimeoutMs = 1000;
constexpr milliseconds kAddressLifetime{5000};  // between look-ups of a name that resolved
constexpr milliseconds kTellAfter{10'000};

// Shared with the thread that asks: look-ups cannot be cancelled, so on a stop signal or a timeout that
// thread is left behind and ends with the process, or after its current try.
struct Asking {
  std::string host;
  int port = 0;
  base::UniqueFd ready{::eventfd(0, EFD_CLOEXEC)};
  base::UniqueFd stop{::eventfd(0, EFD_CLOEXEC)};
  std::mutex mutex;
  std::string problem;  // guarded by mutex

  void note(std::string text) {
    const std::lock_guard lock(mutex);
    problem = std::move(text);
  }
  std::string last_problem() {
    const std::lock_guard lock(mutex);
    return problem;
  }
};

void signal_event(const base::UniqueFd& event) {
  const std::uint64_t one = 1;
  // Writing 1 to a fresh eventfd cannot fail.
  (void)!::write(event.get(), &one, sizeof one);
}

// True when `event` was signalled within `timeout`.
bool wait_event(const base::UniqueFd& event, milliseconds timeout) {
  pollfd readable{event.get(), POLLIN, 0};
  return ::poll(&readable, 1, static_cast<int>(timeout.count())) > 0;
}

bool any_accepts(Asking& asking, const std::vector<Address>& addresses) {
  for (const Address& address : addresses) {
    const Expected<void> probed = probe_tcp(address, kConnectTimeoutMs);
    if (probed) return true;
    asking.note(asking.host + " port " + std::to_string(asking.port) + ": " + probed.error());
  }
  return false;
}

void ask(const std::shared_ptr<Asking>& asking) {
  std::vector<Address> addresses;
  Clock::time_point resolved_at{};
  for (milliseconds pause = kFirstPause;; pause = std::min(pause * 3 / 2, kLongestProbePause)) {
    if (addresses.empty() || Clock::now() - resolved_at > kAddressLifetime) {
      Expected<std::vector<Address>> found = resolve(asking->host, asking->port);
      if (!found) asking->note(found.error());
      addresses = std::move(found).value_or(std::vector<Address>{});
      resolved_at = Clock::now();
    }
    if (any_accepts(*asking, addresses)) {
      signal_event(asking->ready);
      return;
    }
    if (wait_event(asking->stop, pause)) return;
  }
}

MasterWait wait_for_event(Asking& asking, SignalInbox& inbox, const Options& options) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point deadline = start + std::chrono::seconds(options.master_timeout_seconds);
  Clock::time_point tell_at = std::min(start + kTellAfter, deadline);
  for (;;) {
    pollfd events[] = {{asking.ready.get(), POLLIN, 0}, {inbox.fd(), POLLIN, 0}};
    const int count = ::poll(events, 2, milliseconds_until(tell_at));
    while (const std::optional<ReceivedSignal> signal = inbox.next()) {
      if (!is_stop_signal(signal->number)) continue;
      return {MasterState::kStopped, signal->number, sent_from_outside(signal->sender), ""};
    }
    if (count > 0 && events[0].revents != 0) return {};
    if (Clock::now() >= deadline) return {MasterState::kTimedOut, 0, false, asking.last_problem()};
    if (Clock::now() >= tell_at) {
      tell_at = deadline;
      log_line("waiting for rank 0: " + asking.last_problem());
    }
  }
}

}  // namespace

MasterWait wait_for_master(const Options& options, SignalInbox& inbox) {
  if (options.node_rank == 0 || options.master_timeout_seconds == 0) return {};
  const auto asking = std::make_shared<Asking>();
  asking->host = options.master_addr;
  asking->port = options.master_port;
  std::thread thread(ask, asking);
  MasterWait wait = wait_for_event(*asking, inbox, options);
  if (wait.state == MasterState::kReady) {
    thread.join();
  } else {
    signal_event(asking->stop);
    thread.detach();
  }
  return wait;
}

}  // namespace gpupool::launcher
