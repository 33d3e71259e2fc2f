// SPDX-License-Identifier: Apache-2.0
#include "command/duration.h"

#include <gtest/gtest.h>

namespace gpupool::command {
namespace {

using std::chrono::seconds;

TEST(Duration, IsReadAsInKubectl) {
  const std::pair<const char*, std::int64_t> good[] = {{"30s", 30000},    {"500ms", 500}, {"1h30m", 5400000},
                                                       {"2d", 172800000}, {"7", 7000},    {"0", 0},
                                                       {"1.5m", 90000}};
  for (const auto& [text, milliseconds] : good) {
    ASSERT_TRUE(parse_duration(text)) << text;
    EXPECT_EQ(parse_duration(text)->count(), milliseconds) << text;
  }
  for (const char* bad :
       {"", "s", "-1s", "1x", "1s2", "1 s", "soon", "1e9h", "9999999d", "1s-2s", "nan", "inf"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(Duration, AgesAreThoseOfKubectl) {
  const std::pair<std::int64_t, const char*> ages[] = {{-3, "0s"},
                                                       {0, "0s"},
                                                       {119, "119s"},
                                                       {120, "2m"},
                                                       {192, "3m12s"},
                                                       {600, "10m"},
                                                       {10799, "179m"},
                                                       {10800, "3h"},
                                                       {3 * 3600 + 300, "3h5m"},
                                                       {8 * 3600 + 1, "8h"},
                                                       {172800, "2d"},
                                                       {187200, "2d4h"},
                                                       {86400 * 9, "9d"},
                                                       {86400 * 800, "2y70d"},
                                                       {86400LL * 365 * 9, "9y"}};
  for (const auto& [age, text] : ages) EXPECT_EQ(age_text(seconds(age)), text) << age;
}

}  // namespace
}  // namespace gpupool::command
