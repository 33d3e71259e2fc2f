// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "tests/unit/limiter/region_world.h"

namespace gpupool::limiter::testing {
namespace {

using RegionWait = RegionTest;

Ledger waiting;

TEST_F(RegionWait, OneProcessOfAContainerAtATime) {
  ASSERT_TRUE(waiting.attach(path_.c_str(), two_devices()));
  EXPECT_EQ(waiting.begin_wait(2, 1), 0U) << "no such device";
  const std::uint64_t ticket = waiting.begin_wait(0, 5 * kMib);
  ASSERT_NE(ticket, 0U);
  EXPECT_EQ(waiting.begin_wait(0, 1), 0U);
  const auto in_child = [&] {
    waiting.forget_after_fork();
    waiting.attach(path_.c_str(), two_devices());
    return waiting.begin_wait(0, 1) == 0 ? 1 : 0;
  };
  EXPECT_EQ(answer_of_child(in_child), 1);
  // From here on this process has no record locks: seen() and overwrite() close a descriptor of the file.
  EXPECT_EQ(seen().devices[0].waiting_bytes, 5 * kMib);
  EXPECT_NE(seen().devices[0].waiting_since, 0U);
  EXPECT_EQ(seen().devices[0].wait_ticket, ticket);
  EXPECT_FALSE(waiting.wait_refused(0, ticket));
  overwrite(view::refused_ticket_offset(0), ticket);  // as the plugin does
  // Closing the file in overwrite() has cost this process its record locks; they are taken again with a new
  // region.
  EXPECT_TRUE(waiting.wait_refused(0, ticket));
  waiting.end_wait(0, ticket);
  EXPECT_EQ(seen().devices[0].waiting_bytes, 0U);
  EXPECT_EQ(seen().devices[0].waits, 1U);
  EXPECT_EQ(answer_of_child(in_child), 0);
  EXPECT_GT(waiting.begin_wait(0, 1), ticket);
}

TEST_F(RegionWait, EndsWithTheProcess) {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  {
    Child child([&] {
      Ledger ledger;
      ledger.attach(path_.c_str(), two_devices());
      if (ledger.begin_wait(1, kMib) == 0) ::_exit(1);
    });
    EXPECT_TRUE(view::wait_alive(fd, 1));
    EXPECT_FALSE(view::wait_alive(fd, 0));
    EXPECT_FALSE(view::wait_alive(fd, kMaxDevices));
  }
  EXPECT_EQ(seen().devices[1].waiting_bytes, kMib);
  EXPECT_FALSE(view::wait_alive(fd, 1));
  ::close(fd);
}

}  // namespace
}  // namespace gpupool::limiter::testing
