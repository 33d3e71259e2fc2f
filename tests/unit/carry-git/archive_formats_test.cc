// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/carry-git/made_archive.h"
#include "tests/unit/carry-git/tree_on_disk.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;

const std::string kBig(300'000, 'b');

std::vector<Made> usual_entries() {
  return {made_directory("./"),
          made_file("./a.txt", "abc"),
          made_directory("./sub/"),
          made_file("sub/run.sh", "#!/bin/sh\n", 04755),
          made_link("sub/link", "../a.txt"),
          made_file("sub/deep/big", kBig),
          made_file("empty", "")};
}

DiskTree usual_tree() {
  return {{"a.txt", "-abc"},
          {"sub", "d"},
          {"sub/run.sh", "x#!/bin/sh\n"},
          {"sub/link", "> ../a.txt"},
          {"sub/deep", "d"},
          {"sub/deep/big", "-" + kBig},
          {"empty", "-"}};
}

TEST(ArchiveFormats, AllFormatsAndCompressionsGiveTheTree) {
  for (const char* format : {"pax", "gnutar", "ustar", "v7tar", "zip"}) {
    for (const char* filter : {"", "gzip", "bzip2", "xz", "zstd"}) {
      if (std::string(format) == "zip" && *filter != 0) continue;
      SCOPED_TRACE(std::string(format) + " " + filter);
      UnpackedHere here;
      const auto done = here.unpack_bytes(make_archive(usual_entries(), {format, filter, {}, {}}));
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(here.tree(), usual_tree());
      EXPECT_EQ(done->files, 5);
      EXPECT_EQ(done->bytes, 3 + 10 + 300'000);
      EXPECT_EQ(done->digest, digest_of(usual_tree()));
      EXPECT_EQ(here.budget().left(), (std::int64_t{1} << 30U) - done->bytes);
    }
  }
}

TEST(ArchiveFormats, AStoredZipIsUnpacked) {
  UnpackedHere here;
  ASSERT_TRUE(here.unpack_bytes(make_archive(usual_entries(), {"zip", "", "zip:compression=store", {}})));
  EXPECT_EQ(here.tree(), usual_tree());
}

TEST(ArchiveFormats, TheUmaskDoesNotCount) {
  const auto before = ::umask(077);
  UnpackedHere here;
  EXPECT_TRUE(here.unpack_bytes(make_archive(usual_entries())));
  ::umask(before);
  EXPECT_EQ(here.tree(), usual_tree());  // reading expects the modes
}

TEST(ArchiveFormats, NamesAreUtf8) {
  const std::string name = "d\xc3\xa4ten/\xe6\x97\xa5.txt";
  for (const char* format : {"pax", "gnutar", "zip"}) {
    UnpackedHere here;
    const auto done = here.unpack_bytes(make_archive({made_file(name, "x")}, {format, "", {}, {}}));
    ASSERT_TRUE(done) << format << ": " << done.error().message;
    EXPECT_EQ(here.tree().at(name), "-x");
  }
}

TEST(ArchiveFormats, WhatIsNoArchiveIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("hello, this is no archive\n"), std::string(5000, 'x'),
        compressed("just text", "gzip"), std::string("PK\x03\x04", 4)}) {
    UnpackedHere here;
    const auto message = here.message(text);
    EXPECT_EQ(here.last_kind(), FailureKind::kInvalid) << message;
    EXPECT_THAT(message,
                testing::AnyOf(HasSubstr("no tar or zip archive"), HasSubstr("truncated or corrupt")));
  }
}

TEST(ArchiveFormats, EveryCutOfATarIsSeen) {
  const auto whole =
      make_archive({made_file("a", std::string(1000, 'a')), made_directory("d"), made_file("d/b", "b")},
                   {"ustar", "", {}, {}});
  const std::size_t end_of_entries = 512 + 1024 + 512 + 512 + 512;
  for (std::size_t size = 1; size <= end_of_entries;
       size += size % 512 == 511 || size % 512 == 0 ? 1U : 73U) {
    UnpackedHere here;
    EXPECT_FALSE(here.message(whole.substr(0, size)).empty()) << size;
    EXPECT_EQ(here.last_kind(), FailureKind::kInvalid) << size;
  }
}

TEST(ArchiveFormats, CutAndChangedCompressedArchivesAreRefused) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += std::to_string(i * 7919);
  for (const char* filter : {"gzip", "bzip2", "xz", "zstd"}) {
    const auto whole = make_archive({made_file("a", text)}, {"pax", filter, {}, {}});
    UnpackedHere here;
    EXPECT_FALSE(here.message(whole.substr(0, whole.size() / 2)).empty()) << filter;
    EXPECT_EQ(here.last_kind(), FailureKind::kInvalid);
  }
  for (const char* options : {"zip:compression=store", "zip:compression=deflate"}) {
    auto whole = make_archive({made_file("a", text)}, {"zip", "", options, {}});
    UnpackedHere here;
    EXPECT_FALSE(here.message(whole.substr(0, whole.size() - 40)).empty()) << options;
    whole[whole.size() / 2] = static_cast<char>(whole[whole.size() / 2] ^ 1);
    EXPECT_THAT(here.message(whole), HasSubstr("entry a is truncated or corrupt")) << options;
    EXPECT_EQ(here.last_kind(), FailureKind::kInvalid);
  }
}

TEST(ArchiveFormats, AnEncryptedZipIsRefused) {
  UnpackedHere here;
  const auto archive =
      make_archive({made_file("secret", "text")}, {"zip", "", "zip:encryption=zipcrypt", "password"});
  EXPECT_THAT(here.message(archive), HasSubstr("entry secret of the archive is encrypted"));
  EXPECT_EQ(here.last_kind(), FailureKind::kInvalid);
}

TEST(ArchiveFormats, WhatStandsThereIsReplacedAndAStopLeavesIt) {
  UnpackedHere here;
  ASSERT_TRUE(here.unpack_bytes(make_archive(usual_entries())));
  std::filesystem::create_directories(here.path("left.gpupool-part"));
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = here.unpack_bytes(make_archive({made_file("n", "new")}), stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, FailureKind::kStopped);
  EXPECT_EQ(here.tree(), usual_tree());
  ASSERT_TRUE(here.unpack_bytes(make_archive({made_file("n", "new")})));
  EXPECT_EQ(here.tree(), (DiskTree{{"n", "-new"}}));
}

}  // namespace
}  // namespace gpupool::carry
