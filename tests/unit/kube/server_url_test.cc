// SPDX-License-Identifier: Apache-2.0
#include "kube/config/server_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::kube {
namespace {

using testing::HasSubstr;

TEST(ServerUrl, KeepsHostPortAndPathWithoutASlashAtTheEnd) {
  EXPECT_EQ(check_server_url("https://h:6443", "w").value_or(""), "https://h:6443");
  EXPECT_EQ(check_server_url("http://10.0.0.1", "w").value_or(""), "http://10.0.0.1");
  EXPECT_EQ(check_server_url("https://h/prefix//", "w").value_or(""), "https://h/prefix");
  EXPECT_EQ(check_server_url("https://[::1]:1/", "w").value_or(""), "https://[::1]:1");
  EXPECT_EQ(check_server_url("https://[::1]", "w").value_or(""), "https://[::1]");
}

// The client cannot use these, and would report that only when it connects.
TEST(ServerUrl, RefusesHostsAndPortsThatCannotBe) {
  for (const char* url : {"https://h:", "https://h:0", "https://h:65536", "https://h:x", "https://h:1:2",
                          "https://h:99999999999", "https://[::1", "https://[::1]x:1", "https://:6443",
                          "https://", "https:///path"}) {
    const auto checked = check_server_url(url, "FILE: server");
    ASSERT_FALSE(checked.has_value()) << url;
    EXPECT_THAT(checked.error().message, HasSubstr("FILE: server is '" + std::string(url) + "': it has "));
  }
}

}  // namespace
}  // namespace gpupool::kube
