// SPDX-License-Identifier: Apache-2.0
#include "base/key_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace gpupool::base {
namespace {

class KeyFolderTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& key) {
    std::ofstream(folder_.path() + "/" + name) << key;
  }
  test::TemporaryFolder folder_;
};

TEST_F(KeyFolderTest, KeysAreReadByName) {
  write("k1", std::string(32, 'a'));
  write("k2", std::string(40, 'b') + "\n");
  write("..data", "not a key");
  write("UPPER", "not a key");
  std::filesystem::create_directory(folder_.path() + "/folder");
  const auto keys = read_keys(folder_.path());
  ASSERT_TRUE(keys) << keys.error().message;
  ASSERT_EQ(keys->size(), 2U);
  EXPECT_EQ(keys->at("k1"), std::string(32, 'a'));
  EXPECT_EQ(keys->rbegin()->first, "k2");
}

TEST_F(KeyFolderTest, AKeyThatIsTooShortIsRefused) {
  write("k1", std::string(31, 'a'));
  const auto keys = read_keys(folder_.path());
  ASSERT_FALSE(keys);
  EXPECT_NE(keys.error().message.find("k1"), std::string::npos);
}

TEST_F(KeyFolderTest, NoKeyIsAnError) {
  EXPECT_FALSE(read_keys(folder_.path()));
  EXPECT_FALSE(read_keys(folder_.path() + "/missing"));
}

}  // namespace
}  // namespace gpupool::base
