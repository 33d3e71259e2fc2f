// SPDX-License-Identifier: Apache-2.0
#include "launcher/signal_origin.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "launcher/descendants.h"

namespace gpupool::launcher {
namespace {

TEST(SignalOrigin, WhoHasNoPidHereIsOutside) {
  EXPECT_TRUE(sent_from_outside({SI_USER, 0}));
  EXPECT_TRUE(sent_from_outside({SI_KERNEL, 0}));
}

TEST(SignalOrigin, APidThatTheSenderWroteSaysNothing) {
  for (const int code : {SI_QUEUE, SI_TIMER, SI_MESGQ, SI_ASYNCIO}) {
    EXPECT_FALSE(sent_from_outside({code, 0})) << code;
    EXPECT_FALSE(sent_from_outside({code, 1})) << code;
  }
}

TEST(SignalOrigin, OneselfIsInside) { EXPECT_FALSE(sent_from_outside({SI_USER, ::getpid()})); }

TEST(Descendants, ParentsAndStrangersAreNone) {
  EXPECT_TRUE(is_descendant(::getpid()));
  EXPECT_FALSE(is_descendant(::getppid()));
  EXPECT_FALSE(is_descendant(0));
  EXPECT_FALSE(is_descendant(2'000'000'000));  // above any PID
}

}  // namespace
}  // namespace gpupool::launcher
