// SPDX-License-Identifier: Apache-2.0
#include "launcher/signal_origin.h"

#include <sys/stat.h>

#include <csignal>

#include "launcher/descendants.h"

namespace gpupool::launcher {
namespace {

// PROC_PID_INIT_INO of linux/proc_ns.h: the inode of the machine's first PID namespace.
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;

bool shares_the_machines_processes() {
  struct stat info{};
  return ::stat("/proc/self/ns/pid", &info) == 0 && info.st_ino == kFirstPidNamespace;
}

// With other codes (sigqueue and the like) the sender writes the PID itself.
bool kernel_wrote_pid(int code) { return code == SI_USER || code == SI_TKILL || code == SI_KERNEL; }

}  // namespace

bool sent_from_outside(const SignalSender& sender) {
  if (!kernel_wrote_pid(sender.code)) return false;
  if (sender.pid == 0) return true;
  return shares_the_machines_processes() && !is_descendant(sender.pid);
}

}  // namespace gpupool::launcher
