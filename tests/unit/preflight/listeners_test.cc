// SPDX-License-Identifier: Apache-2.0
#include "probes/listeners.h"

#include <gtest/gtest.h>

#include "probes/ports.h"
#include "tests/unit/preflight/temporary_root.h"

namespace gpupool::probes {
namespace {

constexpr char kHeading[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

TEST(Listeners, ReadsBothTables) {
  const test::TemporaryRoot machine;
  machine.write("/proc/net/tcp", std::string(kHeading) +
                                     "   0: 0100007F:2808 00000000:0000 0A 00000000:00000000 00:00000000 "
                                     "00000000     0        0 4711 1 0 100 0\n"
                                     "   1: 0100007F:280A 0100007F:1234 01 00000000:00000000 00:00000000 "
                                     "00000000     0        0 4712 1 0 100 0\n"
                                     "   2: nonsense\n");
  machine.write("/proc/net/tcp6", std::string(kHeading) +
                                      "   0: 00000000000000000000000001000000:280A "
                                      "00000000000000000000000000000000:0000 0A 00000000:00000000 "
                                      "00:00000000 00000000     0        0 4713 1 0 100 0\n");
  const auto all = listeners(machine.root()).value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].port, 10248);
  EXPECT_EQ(all[0].inode, 4711U);
  EXPECT_FALSE(all[0].v6);
  EXPECT_EQ(all[0].address[0], 127);
  EXPECT_EQ(all[0].address[3], 1);
  EXPECT_EQ(all[1].port, 10250);
  EXPECT_TRUE(all[1].v6);
  EXPECT_EQ(all[1].address[15], 1);
}

TEST(Listeners, UnknownWithoutATable) { EXPECT_FALSE(listeners(test::TemporaryRoot().root())); }

// A /proc of other processes: its `self` leads nowhere.
TEST(Ports, AreThoseOfThisProcessWhereTheRootCannotTell) {
  const test::TemporaryRoot machine;
  machine.link("/proc/net", "self/net");
  EXPECT_EQ(ports(machine.root(), {1, 2}).size(), 2U);
}

}  // namespace
}  // namespace gpupool::probes
