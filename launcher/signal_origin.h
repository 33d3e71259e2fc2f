// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace gpupool::launcher {

// Who sent a signal, as signalfd(2) tells it.
struct SignalSender {
  int code = 0;   // si_code: by which call
  pid_t pid = 0;  // as this process's PID namespace knows it; 0: it does not
};

// True for a signal from the container runtime or the kernel, false for one from a process of the pod: the
// command, a sidecar that shares its processes, a `kubectl exec`. Who is outside the PID namespace has no PID
// in it. A pod with hostPID has all processes of the machine in its namespace: there, only descendants of
// this process are inside, and a sender that is gone is not.
bool sent_from_outside(const SignalSender& sender);

}  // namespace gpupool::launcher
