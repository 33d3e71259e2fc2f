#include "launcher/hold.h"

#include <csignal>

#include "launcher/stand_in.h"

namespace gpupool::launcher {

void hold_until_stopped(SignalInbox& inbox, std::optional<int> port) {
  // With SIGCHLD ignored the kernel reaps; orphans of a `kubectl exec` come to PID 1.
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &action, nullptr);
  if (port) {
    stand_in_for_master(inbox, *port);
  } else {
    inbox.wait_for_stop();
  }
}

}  // namespace gpupool::launcher
