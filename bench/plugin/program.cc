// SPDX-License-Identifier: Apache-2.0
#include "bench/plugin/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace gpupool::bench {

Program::Program(const std::vector<std::string>& command, const std::string& log,
                 const std::string& variable) {
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char* environment[] = {const_cast<char*>(variable.c_str()), const_cast<char*>("PATH=/usr/bin:/bin"),
                         nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environment) != 0) {
    std::perror(argv[0]);
    std::exit(EXIT_FAILURE);
  }
  ::posix_spawn_file_actions_destroy(&actions);
}

Program::~Program() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

double Program::memory_mib(const std::string& field) const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::atof(line.c_str() + field.size() + 1) / 1024;
  }
  return 0;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace gpupool::bench
