// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "limiter/region/ledger.h"
#include "limiter/region/region_file.h"
#include "limiter/region/view.h"

namespace gpupool::limiter::testing {

inline constexpr std::uint64_t kMib = 1ULL << 20U;

// Device 0 has a limit of 1000 MiB, device 1 none.
inline Limits two_devices() {
  Limits limits{};
  limits.source = Limits::Source::kFile;
  limits.count = 2;
  limits.devices[0] = {"GPU-a", true, 1000 * kMib, 0};
  limits.devices[1] = {"GPU-b", false, 0, 0};
  return limits;
}

// Runs `body` in a forked process and gives its answer, 0 to 255; -1: it ended by a signal.
inline int answer_of_child(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A forked process that runs `body`, says that it has, then runs `after` and waits for the end of its life.
class Child {
 public:
  explicit Child(const std::function<void()>& body, const std::function<void()>& after = [] {}) {
    std::array<int, 2> said{};
    EXPECT_EQ(::pipe(said.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      body();
      if (::write(said[1], "x", 1) != 1) ::_exit(1);
      after();
      for (;;) ::pause();
    }
    char letter = 0;
    EXPECT_EQ(::read(said[0], &letter, 1), 1);
    ::close(said[0]);
    ::close(said[1]);
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

// A folder with a region of two_devices().
class RegionTest : public ::testing::Test {
 protected:
  RegionTest() {
    std::string pattern = "/dev/shm/gpupool-region-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/region";
    const std::array<RegionDevice, 2> devices = {RegionDevice{"GPU-a", 1000 * kMib},
                                                 RegionDevice{"GPU-b", 0}};
    EXPECT_EQ(create_region(path_.c_str(), devices), 0);
  }
  ~RegionTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::byte> content() const {
    std::ifstream file(path_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
  }
  view::RegionView seen() const { return view::read(content()).value(); }

  // Writes into the file as any program of the container can.
  template <typename Value>
  void overwrite(std::size_t offset, Value value) const {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  std::string folder_;
  std::string path_;
};

}  // namespace gpupool::limiter::testing
