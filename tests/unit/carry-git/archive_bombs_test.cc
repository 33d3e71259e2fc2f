// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files/directories.h"
#include "files/new_tree.h"
#include "tests/unit/carry-git/made_archive.h"
#include "tests/unit/carry-git/tree_on_disk.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kLimit = 4 << 20U;
const std::string& much() {
  static const std::string text(std::size_t{64} << 20U, '\0');
  return text;
}

void expect_too_large(const std::string& archive) {
  UnpackedHere here(kLimit);
  EXPECT_THAT(here.message(archive), HasSubstr("more than sizeLimit, 4194304 bytes"));
  EXPECT_EQ(here.last_kind(), FailureKind::kTooLarge);
}

TEST(ArchiveBombs, AZipBombEndsAtTheLimit) {
  const auto bomb = make_archive({made_file("bomb", much())}, {"zip", "", {}, {}});
  ASSERT_LT(bomb.size(), 200'000U);
  expect_too_large(bomb);
}

TEST(ArchiveBombs, ANestedGzipBombEndsAtTheLimit) {
  const auto once = make_archive({made_file("bomb", much())}, {"pax", "gzip", {}, {}});
  const auto bomb = compressed(once, "gzip");
  ASSERT_LT(bomb.size(), 20'000U);
  expect_too_large(bomb);
}

TEST(ArchiveBombs, ManyFilesTogetherEndAtTheLimit) {
  std::vector<Made> entries;
  entries.reserve(100);
  for (int i = 0; i < 100; ++i)
    entries.push_back(made_file("f" + std::to_string(i), std::string(100'000, 'x')));
  expect_too_large(make_archive(entries, {"pax", "xz", {}, {}}));
}

TEST(ArchiveBombs, OneMillionEntriesAndNoMore) {
  // One directory over and over: it counts each time.
  test::TemporaryFolder folder;
  const auto root = open_directory(folder.path());
  SizeBudget budget(0);
  auto tree = NewTree::begin(root->get(), "to", budget);
  ASSERT_TRUE(tree);
  ASSERT_TRUE(tree->add_directory("d"));
  for (std::int64_t i = 1; i < kMaxTreeEntries; ++i) ASSERT_TRUE(tree->add_directory("d"));
  const auto last = tree->add_directory("d");
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().kind, FailureKind::kTooLarge);
}

}  // namespace
}  // namespace gpupool::carry
