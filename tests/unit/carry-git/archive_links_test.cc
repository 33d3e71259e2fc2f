// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/carry-git/made_archive.h"
#include "tests/unit/carry-git/tree_on_disk.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;

std::string refusal(const std::vector<Made>& entries) {
  UnpackedHere here;
  auto message = here.message(make_archive(entries));
  EXPECT_EQ(here.last_kind(), FailureKind::kInvalid);
  return message;
}

TEST(ArchiveLinks, TargetsOutsideAreRefused) {
  EXPECT_THAT(refusal({made_link("a", "/")}), HasSubstr("entry a of the archive: is a symbolic link to /"));
  EXPECT_THAT(refusal({made_link("a", "/etc/passwd")}), HasSubstr("outside"));
  EXPECT_THAT(refusal({made_link("a", "..")}), HasSubstr("outside"));
  EXPECT_THAT(refusal({made_link("d/a", "../..")}), HasSubstr("outside"));
  EXPECT_THAT(refusal({made_link("d/a", "x/../../../y")}), HasSubstr("outside"));
  EXPECT_THAT(refusal({made_link("a", "b"), made_link("b", "..")}), HasSubstr("entry b of the archive"));
}

TEST(ArchiveLinks, NoEntryGoesThroughALink) {
  const auto why = HasSubstr("l is a file or a link, and a directory is wanted");
  EXPECT_THAT(refusal({made_directory("d"), made_link("l", "d"), made_file("l/x", "x")}), why);
  EXPECT_THAT(refusal({made_link("l", "."), made_directory("l/x")}), why);
  EXPECT_THAT(refusal({made_link("l", "."), made_link("l/x", "..")}), why);
  EXPECT_THAT(refusal({made_file("f", "x"), made_link("l", "."), made_hard_link("l/x", "f")}), why);
}

TEST(ArchiveLinks, LinksInsideAreMade) {
  UnpackedHere here;
  const auto done = here.unpack_bytes(
      make_archive({made_link("d/up", ".."), made_link("d/e/f", "../../x/y"), made_link("self", "self"),
                    made_link("none", "missing"), made_link("here", ".")}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(here.tree().at("d/up"), "> ..");
  EXPECT_EQ(here.tree().at("d/e/f"), "> ../../x/y");
  EXPECT_EQ(done->digest, digest_of(here.tree()));
}

// "b/.." is the tree's own directory by its text, but not if b is a link to the tree's own directory.
TEST(ArchiveLinks, ALinkThatLeavesThroughAnotherIsRefused) {
  for (const auto& entries :
       {std::vector{made_link("a", "b/.."), made_link("b", ".")},
        std::vector{made_link("b", "."), made_link("a", "b/../etc")},
        std::vector{made_directory("d"), made_link("d/u", ".."), made_link("a", "d/u/..")}}) {
    EXPECT_THAT(refusal(entries),
                HasSubstr("a is a symbolic link with .. after a name that does not lead to a file"));
  }
}

TEST(ArchiveLinks, ALinkWithDotsAfterANameIsMadeIfItLeadsInside) {
  UnpackedHere here;
  const auto done = here.unpack_bytes(
      make_archive({made_link("a", "d/../f"), made_directory("d"), made_file("f", "text")}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(here.tree().at("a"), "> d/../f");
}

TEST(ArchiveLinks, AHardLinkIsTheEarlierFile) {
  UnpackedHere here;
  const auto done = here.unpack_bytes(
      make_archive({made_file("d/a", "text", 0755), made_hard_link("b", "d/a"), made_hard_link("b", "d/a"),
                    made_hard_link("d/a", "d/a"), made_file("c", "c"), made_hard_link("c", "./d/a")}));
  ASSERT_TRUE(done) << done.error().message;
  const DiskTree tree{{"d", "d"}, {"d/a", "xtext"}, {"b", "xtext"}, {"c", "xtext"}};
  EXPECT_EQ(here.tree(), tree);
  EXPECT_EQ(done->bytes, 4);
  EXPECT_EQ(done->files, 3);
  EXPECT_EQ(done->digest, digest_of(tree));
}

// The bytes of a file that is replaced are given back only with its last name.
TEST(ArchiveLinks, HardLinksDoNotHideBytesFromTheBudget) {
  UnpackedHere here;
  const std::string text(1000, 't');
  const auto done =
      here.unpack_bytes(make_archive({made_file("a", text), made_hard_link("b", "a"), made_file("a", text),
                                      made_hard_link("c", "a"), made_file("a", text)}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->bytes, 3000);
}

TEST(ArchiveLinks, AHardLinkToSomethingElseIsRefused) {
  EXPECT_THAT(refusal({made_hard_link("a", "/etc/passwd")}), HasSubstr("is absolute"));
  EXPECT_THAT(refusal({made_hard_link("a", "../x")}), HasSubstr("has the part .."));
  EXPECT_THAT(refusal({made_hard_link("a", "later"), made_file("later", "x")}),
              HasSubstr("entry a of the archive: is a hard link to later, which is no earlier file"));
  EXPECT_THAT(refusal({made_directory("d"), made_hard_link("a", "d")}), HasSubstr("no earlier file"));
  EXPECT_THAT(refusal({made_file("d/x", "x"), made_link("l", "d"), made_hard_link("a", "l/x")}),
              HasSubstr("no earlier file"));
}

TEST(ArchiveLinks, AHardLinkToALinkIsJudgedAnew) {
  UnpackedHere here;
  const auto done = here.unpack_bytes(
      make_archive({made_link("l", "x"), made_hard_link("m", "l"), made_link("d/l", "../y")}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(here.tree().at("m"), "> x");
  EXPECT_THAT(refusal({made_link("d/l", "../y"), made_hard_link("m", "d/l")}), HasSubstr("outside"));
}

}  // namespace
}  // namespace gpupool::carry
