// SPDX-License-Identifier: Apache-2.0
#include "agent/inbox.h"

#include <gtest/gtest.h>

#include <future>

#include "tests/support/manual_clock.h"

namespace gpupool::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class InboxTest : public testing::Test {
 protected:
  std::future<Inbox::Mail> wait() {
    return std::async(std::launch::async,
                      [this] { return inbox_.wait(clock_, clock_.now() + seconds(1), stop_.get_token()); });
  }

  test::ManualClock clock_;
  Inbox inbox_;
  std::stop_source stop_;
};

TEST_F(InboxTest, WakesAtTheTick) {
  auto mail = wait();
  ASSERT_TRUE(clock_.wait_for_waiters(1));
  clock_.advance(seconds(1));
  const auto got = mail.get();
  EXPECT_TRUE(got.errors.empty());
  EXPECT_FALSE(got.reload);
}

TEST_F(InboxTest, AnXidWakesAtOnceAndIsGivenOnce) {
  auto mail = wait();
  ASSERT_TRUE(clock_.wait_for_waiters(1));
  inbox_.add({{"GPU-0", 79}});
  EXPECT_EQ(mail.get().errors.size(), 1U);
  mail = wait();
  ASSERT_TRUE(clock_.wait_for_waiters(1));
  clock_.advance(seconds(1));
  EXPECT_TRUE(mail.get().errors.empty());
}

TEST_F(InboxTest, WhatCameMeanwhileIsThere) {
  inbox_.ask_reload();
  inbox_.add({{"GPU-0", 79}});
  inbox_.add({{"GPU-1", 48}});
  const auto mail = wait().get();
  EXPECT_TRUE(mail.reload);
  EXPECT_EQ(mail.errors.size(), 2U);
}

TEST_F(InboxTest, LooksSoonOnce) {
  auto mail = wait();
  ASSERT_TRUE(clock_.wait_for_waiters(1));
  inbox_.look_soon(clock_.now() + milliseconds(250));
  inbox_.look_soon(clock_.now() + milliseconds(300));
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + milliseconds(250)));
  clock_.advance(milliseconds(250));
  mail.get();
  mail = wait();
  ASSERT_TRUE(clock_.wait_for_deadline(clock_.now() + seconds(1)));
  clock_.advance(seconds(1));
  mail.get();
}

TEST_F(InboxTest, EndsWithTheProgram) {
  auto mail = wait();
  ASSERT_TRUE(clock_.wait_for_waiters(1));
  stop_.request_stop();
  mail.get();
}

}  // namespace
}  // namespace gpupool::agent
