// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/carry-git/made_archive.h"
#include "tests/unit/carry-git/tree_on_disk.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;

// Refused as a whole, with a message that names the entry.
void expect_refused(const Made& bad, const std::string& why, const std::vector<Made>& before = {}) {
  SCOPED_TRACE(bad.name + " -> " + bad.text);
  UnpackedHere here;
  auto entries = before;
  entries.insert(entries.begin(), made_file("good", "good"));
  entries.push_back(bad);
  const auto message = here.message(make_archive(entries));
  EXPECT_THAT(message, HasSubstr("entry " + bad.name.substr(0, 200)));
  EXPECT_THAT(message, HasSubstr(why));
  EXPECT_EQ(here.last_kind(), FailureKind::kInvalid);
}

TEST(ArchiveEntries, DevicesPipesAndSocketsAreRefused) {
  expect_refused({Made::Kind::kDevice, "dev", {}, 0666, 0}, "it is no file, directory or link");
  expect_refused({Made::Kind::kPipe, "pipe", {}, 0666, 0}, "it is no file, directory or link");
}

TEST(ArchiveEntries, PathsOutsideAreRefused) {
  expect_refused(made_file("/etc/passwd", "x"), "is absolute");
  expect_refused(made_file("../x", "x"), "has the part ..");
  expect_refused(made_file("a/../../x", "x"), "has the part ..");
  expect_refused(made_file("././x", "x"), "has the part .");
  expect_refused(made_file("a//x", "x"), "has an empty part");
  expect_refused(made_directory("../d/"), "has the part ..");
  expect_refused(made_file("a/" + std::string(256, 'n'), "x"), "of more than 255 bytes");
}

TEST(ArchiveEntries, AControlCharacterIsRefusedAndNotShown) {
  UnpackedHere here;
  EXPECT_THAT(here.message(make_archive({made_file("a\x1b[31m", "x")})),
              HasSubstr("entry a?[31m of the archive"));
}

TEST(ArchiveEntries, TheLastOfSeveralWins) {
  UnpackedHere here;
  const auto done = here.unpack_bytes(
      make_archive({made_file("a", "first, and longer"), made_link("b", "a"), made_file("a", "last", 0755),
                    made_file("b", "a file"), made_link("c", "a"), made_link("c", "b"), made_file("d", "x"),
                    made_directory("d"), made_file("d/e", "")}));
  ASSERT_TRUE(done) << done.error().message;
  const DiskTree tree{{"a", "xlast"}, {"b", "-a file"}, {"c", "> b"}, {"d", "d"}, {"d/e", "-"}};
  EXPECT_EQ(here.tree(), tree);
  EXPECT_EQ(done->bytes, 10);
  EXPECT_EQ(done->files, 4);
  EXPECT_EQ(done->digest, digest_of(tree));
}

TEST(ArchiveEntries, NothingTakesThePlaceOfADirectory) {
  expect_refused(made_file("d", "x"), "is a directory, and then something else", {made_directory("d")});
  expect_refused(made_link("d", "good"), "is a directory, and then something else", {made_file("d/x", "")});
  expect_refused(made_hard_link("d", "good"), "is a directory, and then something else",
                 {made_directory("d")});
}

TEST(ArchiveEntries, NothingIsBelowAFile) {
  expect_refused(made_file("good/x", "x"), "good is a file or a link, and a directory is wanted");
  expect_refused(made_directory("good/x"), "good is a file or a link, and a directory is wanted");
}

TEST(ArchiveEntries, HolesAreZerosAndCount) {
  const std::int64_t hole = 3 << 20U;
  const Made sparse{Made::Kind::kFile, "sparse", "end", 0644, hole};
  const auto archive = make_archive({sparse});
  ASSERT_LT(archive.size(), 20'000U) << "it was not written as a sparse file";
  UnpackedHere here;
  const auto done = here.unpack_bytes(archive);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->bytes, hole + 3);
  EXPECT_EQ(here.tree().at("sparse"), "-" + std::string(hole, '\0') + "end");
  EXPECT_EQ(done->digest, digest_of(here.tree()));
  UnpackedHere small(hole);
  EXPECT_THAT(small.message(archive), HasSubstr("sizeLimit"));
  EXPECT_EQ(small.last_kind(), FailureKind::kTooLarge);
}

}  // namespace
}  // namespace gpupool::carry
