// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>

namespace gpupool::launcher {

// From now on, processes whose parents die become children of this one, also when it is not PID 1.
void adopt_orphans();

// Reaps one child that has ended: its process ID and wait status. Nothing when none has ended. Does not
// block.
struct Reaped {
  pid_t pid = 0;
  int status = 0;
};
std::optional<Reaped> reap_one();

// True while a process of `group` exists; all of them are descendants.
bool group_exists(pid_t group);

// True while this process has a child, also one that has ended and is not reaped.
bool has_children();

// True while `pid` is a process that this one started, directly or through others. Needs /proc.
bool is_descendant(pid_t pid);

// Kills every process of `group` and every other child, also orphans that become our children meanwhile, and
// reaps them.
void kill_leftovers(pid_t group);

}  // namespace gpupool::launcher
