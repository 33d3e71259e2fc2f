// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/carry-git/made_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>

namespace gpupool::carry {
namespace {

la_ssize_t append_piece(archive* /*writer*/, void* to, const void* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

void add_made(archive* writer, const Made& made) {
  const std::unique_ptr<archive_entry, FreeEntry> owned(archive_entry_new());
  archive_entry* const entry = owned.get();
  archive_entry_set_pathname(entry, made.name.c_str());
  using Kind = Made::Kind;
  const auto type = [&]() -> unsigned {
    switch (made.kind) {
      case Kind::kDirectory:
        return AE_IFDIR;
      case Kind::kLink:
        return AE_IFLNK;
      case Kind::kDevice:
        return AE_IFCHR;
      case Kind::kPipe:
        return AE_IFIFO;
      case Kind::kSocket:
        return AE_IFSOCK;
      default:
        return AE_IFREG;
    }
  }();
  archive_entry_set_filetype(entry, type);
  archive_entry_set_perm(entry, static_cast<mode_t>(made.mode));
  archive_entry_set_uid(entry, 12345);
  if (made.kind == Kind::kLink) archive_entry_set_symlink(entry, made.text.c_str());
  if (made.kind == Kind::kHardLink) archive_entry_set_hardlink(entry, made.text.c_str());
  const bool file = made.kind == Kind::kFile;
  const auto size = static_cast<std::int64_t>(made.text.size());
  archive_entry_set_size(entry, file ? made.hole + size : 0);
  if (made.hole > 0) archive_entry_sparse_add_entry(entry, made.hole, size);
  ASSERT_GE(archive_write_header(writer, entry), ARCHIVE_WARN) << archive_error_string(writer);
  if (!file) return;
  const std::string zeros(std::size_t{1} << 20U, '\0');
  for (std::int64_t left = made.hole; left > 0;) {
    const auto piece = std::min<std::int64_t>(left, static_cast<std::int64_t>(zeros.size()));
    archive_write_data(writer, zeros.data(), static_cast<std::size_t>(piece));
    left -= piece;
  }
  if (!made.text.empty()) {
    ASSERT_EQ(archive_write_data(writer, made.text.data(), made.text.size()), size);
  }
}

}  // namespace

std::string make_archive(const std::vector<Made>& entries, const MadeAs& how) {
  std::string bytes;
  const std::unique_ptr<archive, FreeWriter> owned(archive_write_new());
  archive* const writer = owned.get();
  EXPECT_EQ(archive_write_set_format_by_name(writer, how.format.c_str()), ARCHIVE_OK);
  if (!how.filter.empty()) {
    EXPECT_EQ(archive_write_add_filter_by_name(writer, how.filter.c_str()), ARCHIVE_OK);
  }
  if (how.format == "pax") archive_write_set_options(writer, "hdrcharset=BINARY");
  if (!how.options.empty()) {
    EXPECT_EQ(archive_write_set_options(writer, how.options.c_str()), ARCHIVE_OK);
  }
  if (!how.password.empty()) archive_write_set_passphrase(writer, how.password.c_str());
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open(writer, &bytes, nullptr, &append_piece, nullptr);
  for (const auto& made : entries) add_made(writer, made);
  EXPECT_EQ(archive_write_close(writer), ARCHIVE_OK) << archive_error_string(writer);
  return bytes;
}

std::string compressed(const std::string& text, const std::string& filter) {
  std::string bytes;
  const std::unique_ptr<archive, FreeWriter> owned(archive_write_new());
  archive* const writer = owned.get();
  archive_write_set_format_raw(writer);
  EXPECT_EQ(archive_write_add_filter_by_name(writer, filter.c_str()), ARCHIVE_OK);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open(writer, &bytes, nullptr, &append_piece, nullptr);
  add_made(writer, made_file("text", text));
  EXPECT_EQ(archive_write_close(writer), ARCHIVE_OK);
  return bytes;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace gpupool::carry
