// SPDX-License-Identifier: Apache-2.0
#include "archive/unpack.h"

#include <fcntl.h>
#include <locale.h>  // NOLINT(modernize-deprecated-headers): uselocale() is not in <clocale>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "archive/archive_reader.h"
#include "archive/entry_names.h"
#include "archive/tree_digest.h"
#include "digest/sha256.h"
#include "files/file_error.h"
#include "files/new_tree.h"
#include "files/relative_path.h"

namespace gpupool::carry {
namespace {

// libarchive takes names for texts of the thread's locale. Where this one is missing, zip files with other
// names than ASCII are refused.
class Utf8Names {
 public:
  Utf8Names() : utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_ != nullptr) before_ = ::uselocale(utf8_);
  }
  ~Utf8Names() {
    if (utf8_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_;
  locale_t before_ = nullptr;
};

Outcome<base::UniqueFd> open_file(int root, const std::string& path) {
  auto parts = split_path(path);
  if (!parts) return tl::unexpected(parts.error());
  base::UniqueFd at(::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; at.valid() && i < parts->size(); ++i) {
    const int directory = i + 1 < parts->size() ? O_DIRECTORY : 0;
    at = base::UniqueFd(
        ::openat(at.get(), (*parts)[i].c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | directory));
  }
  if (!at.valid()) return file_failure("cannot open the archive " + path, errno);
  struct stat status{};
  if (::fstat(at.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return failed(FailureKind::kInvalid, "the archive " + path + " is no file");
  return at;
}

class Unpacking {
 public:
  Unpacking(ArchiveReader& reader, NewTree& tree, TreeDigest& digest, std::stop_token stop)
      : reader_(reader), tree_(tree), digest_(digest), stop_(std::move(stop)) {}

  Outcome<void> all() {
    for (;;) {
      if (stop_.stop_requested()) return failed(FailureKind::kStopped, "stopped while unpacking");
      auto more = reader_.next(entry_);
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
      if (auto added = one(); !added) {
        auto failure = added.error();
        // The reader's own failures name the entry already.
        if (!from_reader_)
          failure.message = "entry " + shown(entry_.name) + " of the archive: " + failure.message;
        return tl::unexpected(std::move(failure));
      }
    }
  }

 private:
  Outcome<void> one() {
    const bool directory = entry_.kind == ArchiveEntry::Kind::kDirectory;
    const auto path = entry_path(entry_.name, directory);
    switch (entry_.kind) {
      case ArchiveEntry::Kind::kDirectory:
        if (path.empty()) return {};
        if (auto added = tree_.add_directory(path); !added) return added;
        return digest_.add_directory(path);
      case ArchiveEntry::Kind::kFile:
        return file(path);
      case ArchiveEntry::Kind::kLink:
        if (auto added = tree_.add_link(path, entry_.target); !added) return added;
        return digest_.add(path, false, entry_.target);
      case ArchiveEntry::Kind::kHardLink:
        return hard_link(path);
      case ArchiveEntry::Kind::kOther:
        break;
    }
    return failed(FailureKind::kInvalid,
                  "it is no file, directory or link, but a device, a pipe or a socket");
  }

  Outcome<void> file(const std::string& path) {
    auto file = tree_.add_file(path);
    if (!file) return tl::unexpected(file.error());
    for (;;) {
      auto piece = reader_.next_piece();
      if (!piece) {
        from_reader_ = true;
        return tl::unexpected(piece.error());
      }
      const auto before = file->size();
      if (piece->last) {
        if (auto extended = file->extend(piece->offset); !extended) return extended;
        if (auto hashed = hash_zeros(file->size() - before); !hashed) return hashed;
        break;
      }
      if (piece->bytes.empty()) continue;
      if (auto written = file->write(piece->offset, piece->bytes); !written) return written;
      if (auto hashed = hash_zeros(piece->offset - before); !hashed) return hashed;
      hash_.add(piece->bytes);
    }
    if (auto finished = file->finish(entry_.program); !finished) return finished;
    return digest_.add(path, entry_.program, hash_.hex());
  }

  Outcome<void> hash_zeros(std::int64_t count) {
    static constexpr std::array<char, 65536> kZeros{};
    while (count > 0) {
      if (stop_.stop_requested()) return failed(FailureKind::kStopped, "stopped while unpacking");
      const auto size = std::min(count, static_cast<std::int64_t>(kZeros.size()));
      hash_.add({kZeros.data(), static_cast<std::size_t>(size)});
      count -= size;
    }
    return {};
  }

  Outcome<void> hard_link(const std::string& path) {
    auto linked = tree_.add_hard_link(path, entry_path(entry_.target, false));
    if (!linked) return tl::unexpected(linked.error());
    if (!linked->file.valid()) return digest_.add(path, false, linked->target);
    std::array<char, 65536> buffer{};
    for (;;) {
      if (stop_.stop_requested()) return failed(FailureKind::kStopped, "stopped while unpacking");
      const auto got = ::read(linked->file.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return file_failure("cannot read " + path, errno);
      if (got == 0) break;
      hash_.add({buffer.data(), static_cast<std::size_t>(got)});
    }
    return digest_.add(path, linked->program, hash_.hex());
  }

  ArchiveReader& reader_;
  NewTree& tree_;
  TreeDigest& digest_;
  std::stop_token stop_;
  ArchiveEntry entry_;
  digest::Sha256 hash_;
  bool from_reader_ = false;
};

}  // namespace

Outcome<Unpacked> unpack(int root, const std::string& archive_path, const std::string& to, SizeBudget& budget,
                         std::stop_token stop) {
  const Utf8Names names;
  auto file = open_file(root, archive_path);
  if (!file) return tl::unexpected(file.error());
  auto reader = ArchiveReader::open(file->get(), stop);
  if (!reader) return tl::unexpected(reader.error());
  auto tree = NewTree::begin(root, to, budget);
  if (!tree) return tl::unexpected(tree.error());
  TreeDigest digest(root);
  if (auto done = Unpacking(**reader, *tree, digest, stop).all(); !done) return tl::unexpected(done.error());
  auto summary = digest.finish();
  if (!summary) return tl::unexpected(summary.error());
  const auto bytes = tree->bytes();
  if (auto committed = tree->commit(); !committed) return tl::unexpected(committed.error());
  return Unpacked{summary->files, bytes, std::move(summary->digest)};
}

}  // namespace gpupool::carry
