// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gpupool::bench {

// A program beside this one, ended by SIGTERM with the object.
class Program {
 public:
  // log: takes its stderr. variable: NAME=value, the only one of its environment beside PATH.
  Program(const std::vector<std::string>& command, const std::string& log, const std::string& variable);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // A field of /proc/PID/status that is in kB: VmRSS, VmHWM. 0 if it has ended.
  double memory_mib(const std::string& field) const;

 private:
  pid_t pid_ = 0;
};

// All of a file; empty if there is none.
std::string text_of(const std::string& path);

}  // namespace gpupool::bench
