// SPDX-License-Identifier: Apache-2.0
#include "kube/config/run_command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "tests/unit/kube/temp_dir.h"

namespace gpupool::kube {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

Command shell(const std::string& script) { return {.argv = {"sh", "-c", script}}; }

TEST(RunCommand, GivesOutputsAndExitCode) {
  const auto result = run_command(shell("cat; echo out; echo err >&2; exit 3"), {});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
}

TEST(RunCommand, TellsASignal) { EXPECT_EQ(run_command(shell("kill -9 $$"), {})->exit_code, 137); }

TEST(RunCommand, MergesTheEnvironment) {
  const test::ScopedEnv kept("GPUPOOL_TEST_KEPT", "kept");
  const test::ScopedEnv replaced("GPUPOOL_TEST_REPLACED", "old");
  Command command =
      shell("echo $GPUPOOL_TEST_KEPT $GPUPOOL_TEST_REPLACED; env | grep -c ^GPUPOOL_TEST_REPLACED");
  command.env = {{"GPUPOOL_TEST_REPLACED", "new"}};
  EXPECT_EQ(run_command(command, {})->out, "kept new\n1\n");
}

// Counts the descriptors that the test was started with and that a program would inherit.
std::size_t inheritable_descriptors() {
  std::size_t count = 0;
  for (int fd = 3; fd < 1024; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ++count;
  }
  return count;
}

TEST(RunCommand, InheritsNoDescriptor) {
  const auto result = run_command(shell("printf '%s\n' /proc/$$/fd/*"), {});
  ASSERT_TRUE(result.has_value());
  const auto lines = static_cast<std::size_t>(std::count(result->out.begin(), result->out.end(), '\n'));
  // 0, 1, 2, and the directory that the shell reads.
  EXPECT_LE(lines, 4 + inheritable_descriptors()) << result->out;
}

TEST(RunCommand, InheritsNoIgnoredSignal) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const auto result = run_command(shell("kill -PIPE $$; echo survived"), {});
  ::signal(SIGPIPE, before);
  EXPECT_EQ(result->exit_code, 128 + SIGPIPE) << result->out;
}

TEST(RunCommand, ReadsMuchOutputWithoutDeadlock) {
  const auto result = run_command(shell("head -c 900000 /dev/zero; head -c 900000 /dev/zero >&2"), {});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->out.size(), 900000U);
  EXPECT_EQ(result->err.size(), 4096U);
}

TEST(RunCommand, StopsAtTheOutputLimit) {
  const auto result = run_command(shell("exec cat /dev/zero"), {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
  EXPECT_EQ(result.error().message, "wrote more than 1048576 bytes");
}

TEST(RunCommand, EndsWithItsTime) {
  Command command = shell("exec sleep 600");
  command.timeout = 50ms;
  const auto result = run_command(command, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
}

TEST(RunCommand, IsCancelledWithAllItsChildren) {
  const test::TempDir dir;
  const std::string fifo = dir.path("fifo");
  ASSERT_EQ(run_command({.argv = {"mkfifo", fifo}}, {})->exit_code, 0);
  base::Result<CommandResult> result;
  // Both the shell and its child have the FIFO open for writing, so the reader sees the end only after both
  // are dead.
  std::jthread runner([&](std::stop_token stop) {
    result = run_command(shell("exec 9>" + fifo + "; echo up >&9; sleep 600 & wait"), stop);
  });
  std::ifstream reader(fifo);
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "up");
  runner.request_stop();
  EXPECT_FALSE(std::getline(reader, line));
  runner.join();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kCancelled);
}

TEST(RunCommand, DoesNotWaitForWhatItLeftBehind) {
  const auto result = run_command(shell("sleep 600 & echo done"), {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->out, "done\n");
}

TEST(RunCommand, AProgramThatIsNotThere) {
  const auto result = run_command({.argv = {"gpupool-no-such-program"}}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(result.error().message, "gpupool-no-such-program: No such file or directory");
}

}  // namespace
}  // namespace gpupool::kube
