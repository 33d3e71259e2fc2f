#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launcher/expected.h"

namespace gpupool::launcher {

// What `run` was asked to do. Ranks and counts have been checked against each other.
struct Options {
  std::string state_dir = "/gpupool";
  std::string termination_log = "/dev/termination-log";
  std::string job;
  int attempt = 0;
  int node_rank = 0;
  int nodes = 1;
  int processes_per_node = 1;
  std::string master_addr = "localhost";
  int master_port = 29500;
  int master_timeout_seconds = 600;  // 0: ranks above 0 do not wait
  bool hold = false;
  std::vector<std::string> command;
};

// Value of an environment variable, null when it is not set.
using GetEnv = std::function<const char*(const char* name)>;

// Reads the arguments after `run`: flags, "--", the command. A flag wins over its environment variable; an
// empty variable counts as unset. Errors name the flag or the variable.
Expected<Options> parse_run(const std::vector<std::string>& arguments, const GetEnv& get_env);

}  // namespace gpupool::launcher
