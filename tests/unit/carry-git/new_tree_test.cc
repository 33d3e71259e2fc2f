// SPDX-License-Identifier: Apache-2.0
#include "files/new_tree.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "files/directories.h"
#include "files/remove_tree.h"
#include "tests/unit/carry-git/made_archive.h"
#include "tests/unit/carry-git/tree_on_disk.h"

namespace gpupool::carry {
namespace {

namespace fs = std::filesystem;

class NewTrees : public testing::Test {
 protected:
  int root() const { return root_->get(); }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  Outcome<NewTree> begin(const std::string& name = "to") { return NewTree::begin(root(), name, budget_); }
  std::int64_t names() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }

  test::TemporaryFolder folder_;
  Outcome<base::UniqueFd> root_ = open_directory(folder_.path());
  SizeBudget budget_{1000};
};

TEST_F(NewTrees, IsNotThereBeforeItIsWhole) {
  {
    auto tree = begin("above/to");
    ASSERT_TRUE(tree);
    auto file = tree->add_file("a");
    ASSERT_TRUE(file->write(0, "text"));
    ASSERT_TRUE(file->finish(false));
    EXPECT_FALSE(fs::exists(path("above/to")));
    ASSERT_TRUE(tree->commit());
  }
  EXPECT_EQ(read_disk_tree(path("above/to")), (DiskTree{{"a", "-text"}}));
  EXPECT_EQ(budget_.left(), 996);
}

TEST_F(NewTrees, LeavesNothingWithoutCommit) {
  {
    auto tree = begin();
    auto file = tree->add_file("d/a");
    ASSERT_TRUE(file->write(10, "text"));
    EXPECT_EQ(budget_.left(), 986);
  }
  EXPECT_EQ(names(), 0);
  EXPECT_EQ(budget_.left(), 1000);
}

TEST_F(NewTrees, WhatAKilledProcessHasLeftGoes) {
  std::string part;
  {
    auto tree = begin();
    for (const auto& entry : fs::directory_iterator(folder_.path())) part = entry.path();
  }
  ASSERT_TRUE(part.ends_with(".gpupool-part"));
  fs::create_directories(part + "/old/old");
  auto tree = begin();
  ASSERT_TRUE(tree);
  ASSERT_TRUE(tree->add_file("new"));
  ASSERT_TRUE(tree->commit());
  EXPECT_TRUE(fs::exists(path("to/new")));
  EXPECT_FALSE(fs::exists(path("to/old")));
  EXPECT_EQ(names(), 1);
}

TEST_F(NewTrees, AFileInItsPlaceIsRefused) {
  write_text(path("to"), "mine");
  auto tree = begin();
  const auto done = tree->commit();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, FailureKind::kInvalid);
  EXPECT_TRUE(fs::is_regular_file(path("to")));
}

TEST_F(NewTrees, ALinkAboveItIsRefused) {
  fs::create_directory(path("real"));
  fs::create_directory_symlink("real", path("link"));
  const auto tree = begin("link/to");
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, FailureKind::kInvalid);
}

TEST_F(NewTrees, ADeepTreeIsRemovedWithFewDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::string deep = "a";
  for (int i = 0; i < 900; ++i) deep += "/a";
  {
    auto tree = begin();
    ASSERT_TRUE(tree->add_file(deep));
    ASSERT_TRUE(tree->add_file(deep.substr(0, deep.size() / 2 + 1) + "b"));
    ASSERT_TRUE(tree->add_link("up/up", ".."));
    ASSERT_TRUE(tree->commit());
  }
  rlimit few = before;
  few.rlim_cur = 40;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto removed = remove_tree(root(), "to");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(names(), 0);
}

TEST_F(NewTrees, RemovingFollowsNoLink) {
  fs::create_directories(path("keep/d"));
  fs::create_directories(path("tree/d"));
  fs::create_directory_symlink("../../keep", path("tree/d/link"));
  ASSERT_TRUE(remove_tree(root(), "tree"));
  EXPECT_TRUE(fs::exists(path("keep/d")));
  EXPECT_FALSE(fs::exists(path("tree")));
  EXPECT_TRUE(remove_tree(root(), "nothing"));
}

}  // namespace
}  // namespace gpupool::carry
