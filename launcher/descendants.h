#pragma once

#include <sys/types.h>

#include <optional>

namespace gpupool::launcher {

// From now on, processes whose parents die become children of this one, also when it is not PID 1.
void adopt_orphans();

// Takes the end of one child that has ended: its id and wait status. Nothing when none has.
struct Reaped {
  pid_t pid = 0;
  int status = 0;
};
std::optional<Reaped> reap_one();

// True while a process of `group` exists; all of them are descendants.
bool group_exists(pid_t group);

// True while `pid` is a process that this one started, directly or through others. Needs /proc.
bool is_descendant(pid_t pid);

// Kills every process of `group` and every child that is left, also those that orphans among them leave to
// us, and reaps them.
void kill_leftovers(pid_t group);

}  // namespace gpupool::launcher
