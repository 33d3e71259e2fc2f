// SPDX-License-Identifier: Apache-2.0
#include "base/signal_thread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stop_token>
#include <thread>

#include "base/stop_signals.h"

namespace gpupool::base {
namespace {

// Each of these runs in a child process: signals stay blocked, and the child must have no other threads.
void end_well_if(bool condition) { ::_exit(condition ? 0 : 7); }

bool within_seconds(const auto& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

TEST(SignalThreadDeathTest, CallsBackForEachSignalUntilItsEnd) {
  EXPECT_EXIT(
      {
        std::atomic<int> calls = 0;
        {
          const SignalThread signals({SIGHUP, SIGUSR1}, [&](int) { ++calls; });
          ::kill(::getpid(), SIGHUP);
          if (!within_seconds([&] { return calls == 1; })) ::_exit(6);
          ::kill(::getpid(), SIGUSR1);
          if (!within_seconds([&] { return calls == 2; })) ::_exit(6);
        }
        ::kill(::getpid(), SIGHUP);
        end_well_if(calls == 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StopSignalsDeathTest, TheFirstSignalAsksToStop) {
  EXPECT_EXIT(
      {
        std::stop_source stop;
        const StopSignals signals(stop);
        ::kill(::getpid(), SIGTERM);
        end_well_if(within_seconds([&] { return stop.stop_requested(); }));
      },
      testing::ExitedWithCode(0), "");
}

TEST(StopSignalsDeathTest, TheSecondSignalEndsTheProgram) {
  EXPECT_EXIT(
      {
        std::stop_source stop;
        const StopSignals signals(stop);
        ::kill(::getpid(), SIGTERM);
        if (!within_seconds([&] { return stop.stop_requested(); })) ::_exit(6);
        ::kill(::getpid(), SIGINT);
        within_seconds([] { return false; });
        ::_exit(5);
      },
      testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace gpupool::base
