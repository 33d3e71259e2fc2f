// SPDX-License-Identifier: Apache-2.0
#include "archive/tree_digest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>

#include "digest/sha256.h"
#include "files/directories.h"
#include "tests/unit/carry-git/tree_on_disk.h"

namespace gpupool::carry {
namespace {

namespace fs = std::filesystem;

// With little memory, what does not fit goes to a file and comes back.
RC_GTEST_PROP(TreeDigest, IsThatOfTheSortedLinesWhateverTheMemory, ()) {
  const test::TemporaryFolder folder;
  const auto directory = open_directory(folder.path());
  TreeDigest digest(directory->get(), *rc::gen::element<std::size_t>(1, 200, 2000, std::size_t{2} << 20U));
  DiskTree tree;
  const auto names = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 60));
  int version = 0;
  for (const int number : names) {
    const auto name =
        std::string(static_cast<std::size_t>(1 + number % 3), '-') + "/" + std::to_string(number);
    const auto text = std::to_string(++version);
    if (number % 7 == 0 && version % 2 == 0) {
      RC_ASSERT(digest.add_directory(name).has_value());
      tree[name] = "d";
    } else if (number % 5 == 0) {
      RC_ASSERT(digest.add(name, false, text).has_value());
      tree[name] = "> " + text;
    } else {
      RC_ASSERT(digest.add(name, number % 2 == 0, digest::sha256_hex(text)).has_value());
      tree[name] = (number % 2 == 0 ? "x" : "-") + text;
    }
  }
  const auto summary = digest.finish();
  RC_ASSERT(summary.has_value());
  RC_ASSERT(summary->digest == digest_of(tree));
  RC_ASSERT(summary->files ==
            std::count_if(tree.begin(), tree.end(), [](const auto& each) { return each.second != "d"; }));
  RC_ASSERT(fs::is_empty(folder.path()));
}

TEST(TreeDigest, ManyLinesAreMerged) {
  const test::TemporaryFolder folder;
  const auto directory = open_directory(folder.path());
  TreeDigest digest(directory->get(), 50'000);
  DiskTree tree;
  for (int i = 0; i < 10'000; ++i) {
    const auto name = std::to_string(i * 7919 % 10'000);
    ASSERT_TRUE(digest.add(name, false, digest::sha256_hex(name)));
    tree[name] = "-" + name;
  }
  EXPECT_EQ(digest.finish()->digest, digest_of(tree));
}

TEST(TreeDigest, TheListHasALimit) {
  const test::TemporaryFolder folder;
  const auto directory = open_directory(folder.path());
  TreeDigest digest(directory->get());
  const std::string content(std::size_t{16} << 20U, 'c');
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(digest.add("a", false, content));
  const auto last = digest.add("a", false, content);
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().kind, FailureKind::kTooLarge);
}

}  // namespace
}  // namespace gpupool::carry
