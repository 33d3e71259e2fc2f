// SPDX-License-Identifier: Apache-2.0
#include "launcher/hold.h"

#include <algorithm>
#include <csignal>

#include "launcher/stand_in.h"

namespace gpupool::launcher {
namespace {

constexpr std::chrono::milliseconds kLongestHold = std::chrono::hours(24);

}  // namespace

std::chrono::milliseconds hold_pause(WallTime stored, WallTime now, std::chrono::seconds least) {
  const auto passed = std::chrono::ceil<std::chrono::milliseconds>(now - stored);
  return std::clamp<std::chrono::milliseconds>(passed, least, kLongestHold);
}

void hold(SignalInbox& inbox, std::chrono::milliseconds pause, std::optional<int> port) {
  const Clock::time_point deadline = Clock::now() + pause;
  // With SIGCHLD ignored the kernel reaps; orphans of a `kubectl exec` come to PID 1.
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &action, nullptr);
  if (port) {
    stand_in_for_master(inbox, *port, deadline);
  } else {
    inbox.wait_for_stop(deadline);
  }
}

}  // namespace gpupool::launcher
