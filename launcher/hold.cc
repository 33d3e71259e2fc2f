#include "launcher/hold.h"

#include <csignal>

namespace gpupool::launcher {

void hold_until_stopped(SignalInbox& inbox) {
  // With SIGCHLD ignored the kernel reaps; orphans of a `kubectl exec` come to PID 1.
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &action, nullptr);
  inbox.wait_for_stop();
}

}  // namespace gpupool::launcher
