// SPDX-License-Identifier: Apache-2.0
#include "archive/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "archive/entry_names.h"
#include "files/file_error.h"

namespace gpupool::carry {
namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10U;
constexpr std::int64_t kTarBlock = 512;

bool is_format(archive* reader, int format) {
  return (archive_format(reader) & ARCHIVE_FORMAT_BASE_MASK) == format;
}

// Names that are not in the locale's characters are kept as they are.
bool only_about_names(archive* reader) {
  const char* const why = archive_error_string(reader);
  return why != nullptr && std::string_view(why).find("converted") != std::string_view::npos;
}

ArchiveEntry::Kind kind_of(archive_entry* entry) {
  using Kind = ArchiveEntry::Kind;
  if (archive_entry_hardlink(entry) != nullptr) return Kind::kHardLink;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return Kind::kFile;
    case AE_IFDIR:
      return Kind::kDirectory;
    case AE_IFLNK:
      return Kind::kLink;
    default:
      return Kind::kOther;
  }
}

}  // namespace

void ArchiveReader::Free::operator()(archive* reader) const { archive_read_free(reader); }

ArchiveReader::ArchiveReader(int file, std::stop_token stop)
    : file_(file),
      stop_(std::move(stop)),
      buffer_(std::make_unique<char[]>(kBlock)),
      reader_(archive_read_new()) {}

ArchiveReader::~ArchiveReader() = default;

la_ssize_t ArchiveReader::read(archive* reader, void* self, const void** buffer) {
  auto& from = *static_cast<ArchiveReader*>(self);
  *buffer = from.buffer_.get();
  for (;;) {
    if (from.stop_.stop_requested()) {
      archive_set_error(reader, ECANCELED, "stopped");
      return -1;
    }
    const auto got = ::read(from.file_, from.buffer_.get(), kBlock);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) archive_set_error(reader, errno, "the file cannot be read");
    return got;
  }
}

la_int64_t ArchiveReader::seek(archive* reader, void* self, la_int64_t offset, int whence) {
  const auto at = ::lseek(static_cast<ArchiveReader*>(self)->file_, offset, whence);
  if (at >= 0) return at;
  archive_set_error(reader, errno, "the file cannot be read");
  return ARCHIVE_FATAL;
}

Outcome<std::unique_ptr<ArchiveReader>> ArchiveReader::open(int file, std::stop_token stop) {
  std::unique_ptr<ArchiveReader> opened(new ArchiveReader(file, std::move(stop)));
  archive* const reader = opened->reader_.get();
  if (reader == nullptr) return failed(FailureKind::kLocal, "no memory to read the archive");
  const bool ready = archive_read_support_filter_gzip(reader) == ARCHIVE_OK &&
                     archive_read_support_filter_bzip2(reader) == ARCHIVE_OK &&
                     archive_read_support_filter_xz(reader) == ARCHIVE_OK &&
                     archive_read_support_filter_zstd(reader) == ARCHIVE_OK &&
                     archive_read_support_format_tar(reader) == ARCHIVE_OK &&
                     archive_read_support_format_zip_seekable(reader) == ARCHIVE_OK &&
                     archive_read_set_read_callback(reader, &ArchiveReader::read) == ARCHIVE_OK &&
                     archive_read_set_seek_callback(reader, &ArchiveReader::seek) == ARCHIVE_OK &&
                     archive_read_set_callback_data(reader, opened.get()) == ARCHIVE_OK;
  if (!ready) return failed(FailureKind::kLocal, "this libarchive cannot read all compressions");
  if (archive_read_open1(reader) != ARCHIVE_OK) return opened->broken("the archive");
  return opened;
}

tl::unexpected<Failure> ArchiveReader::broken(const std::string& what) const {
  if (stop_.stop_requested()) return failed(FailureKind::kStopped, "stopped while unpacking");
  const char* const why = archive_error_string(reader_.get());
  const std::string_view text = why == nullptr ? "it is truncated or corrupt" : why;
  if (text.find("Unrecognized archive format") != std::string_view::npos)
    return failed(FailureKind::kInvalid, "the file is no tar or zip archive");
  return failed(FailureKind::kInvalid, what + " is truncated or corrupt: " + shown(text));
}

Outcome<bool> ArchiveReader::next(ArchiveEntry& entry) {
  archive* const reader = reader_.get();
  if (begun_ && archive_read_data_skip(reader) != ARCHIVE_OK) return broken("entry " + entry_name_);
  begun_ = true;
  const auto before = archive_filter_bytes(reader, 0);
  archive_entry* raw = nullptr;
  const int result = archive_read_next_header(reader, &raw);
  if (result == ARCHIVE_EOF) {
    // A whole tar ends with blocks of zeros.
    if (is_format(reader, ARCHIVE_FORMAT_TAR) && archive_filter_bytes(reader, 0) - before < kTarBlock)
      return failed(FailureKind::kInvalid, "the archive is truncated: it has no end mark");
    return false;
  }
  const bool zip = is_format(reader, ARCHIVE_FORMAT_ZIP);
  if (result != ARCHIVE_OK && (result != ARCHIVE_WARN || (zip && !only_about_names(reader))))
    return broken("the archive");
  const char* const name = archive_entry_pathname(raw);
  if (name == nullptr)
    return failed(FailureKind::kInvalid, "the archive has an entry whose name is not in UTF-8");
  entry_name_ = shown(name);
  if (archive_entry_is_encrypted(raw) != 0)
    return failed(
        FailureKind::kInvalid,
        "entry " + entry_name_ + " of the archive is encrypted; make the archive without a password");
  if (zip) {
    const std::string_view format(archive_format_name(reader));
    if (!format.ends_with("(uncompressed)") && !format.ends_with("(deflation)"))
      return failed(FailureKind::kInvalid, "entry " + entry_name_ + " of the archive is packed as " +
                                               shown(format) + "; only deflation and none are unpacked");
  }
  entry.kind = kind_of(raw);
  entry.name = name;
  entry.program = (archive_entry_perm(raw) & 0111) != 0;
  const char* target = nullptr;
  if (entry.kind == ArchiveEntry::Kind::kLink) target = archive_entry_symlink(raw);
  if (entry.kind == ArchiveEntry::Kind::kHardLink) target = archive_entry_hardlink(raw);
  entry.target = target == nullptr ? "" : target;
  return true;
}

Outcome<ArchivePiece> ArchiveReader::next_piece() {
  if (stop_.stop_requested()) return failed(FailureKind::kStopped, "stopped while unpacking");
  const void* bytes = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  const int result = archive_read_data_block(reader_.get(), &bytes, &size, &offset);
  if (result != ARCHIVE_OK && result != ARCHIVE_EOF) return broken("entry " + entry_name_);
  return ArchivePiece{offset, {static_cast<const char*>(bytes), size}, result == ARCHIVE_EOF};
}

}  // namespace gpupool::carry
