// SPDX-License-Identifier: Apache-2.0
#include "kube/config/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace gpupool::kube {
namespace {

struct Pipe {
  base::UniqueFd read;
  base::UniqueFd write;
};

base::Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return base::fail(base::ErrorCode::kIo, "pipe: " + std::generic_category().message(errno));
  }
  Pipe pipe{base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& env) {
  std::vector<std::string> merged;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string ours = *entry;
    bool replaced = false;
    for (const auto& [name, value] : env) replaced = replaced || ours.starts_with(name + "=");
    if (!replaced) merged.push_back(ours);
  }
  for (const auto& [name, value] : env) merged.emplace_back(name).append("=").append(value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

struct SpawnSettings {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  SpawnSettings(int out, int err) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    // Resets blocked and ignored signals (SIGPIPE, SIGTERM), which the program would inherit.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

}  // namespace

base::Result<Child> spawn(const std::vector<std::string>& argv,
                          const std::vector<std::pair<std::string, std::string>>& env) {
  auto out = make_pipe();
  if (!out) return tl::unexpected<base::Error>(out.error());
  auto err = make_pipe();
  if (!err) return tl::unexpected<base::Error>(err.error());
  std::vector<std::string> arguments = argv;
  std::vector<std::string> environment = merged_environment(env);
  const SpawnSettings settings(out->write.get(), err->write.get());
  Child child{-1, std::move(out->read), std::move(err->read)};
  const int error = ::posix_spawnp(&child.pid, argv.front().c_str(), &settings.actions, &settings.attributes,
                                   pointers(arguments).data(), pointers(environment).data());
  if (error == 0) return child;
  const auto code = error == ENOENT ? base::ErrorCode::kNotFound : base::ErrorCode::kIo;
  return base::fail(code, argv.front() + ": " + std::generic_category().message(error));
}

}  // namespace gpupool::kube
