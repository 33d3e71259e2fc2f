// SPDX-License-Identifier: Apache-2.0
#include "push/file_list.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "files/file_error.h"

namespace gpupool::carry {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100'000;

FileVersion version_of(const struct stat& info) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {info.st_size, info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec, info.st_ino};
}

Outcome<void> add(const fs::path& file, const std::string& root, const std::string& name, FileList& list) {
  struct stat info{};
  if (::lstat(file.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return file_failure("cannot read " + name, errno);
  }
  if (S_ISDIR(info.st_mode)) return {};
  if (!S_ISREG(info.st_mode)) {
    list.skipped.push_back(name);
    return {};
  }
  list.files.emplace(name, ListedFile{file.lexically_relative(root).string(), version_of(info)});
  if (list.files.size() > kMostFiles)
    return failed(FailureKind::kTooLarge, "there are more than 100000 files");
  return {};
}

}  // namespace

Outcome<FileList> list_files(const std::string& root, const std::string& below) {
  const auto path = root + "/" + below;
  FileList list;
  std::error_code error;
  const auto status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found)
    return failed(FailureKind::kNotFound, path + " does not exist");
  if (error) return file_failure("cannot read " + path, error.value());
  if (status.type() != fs::file_type::directory) {
    if (auto added = add(path, root, fs::path(path).filename(), list); !added)
      return tl::unexpected(added.error());
    return list;
  }
  fs::recursive_directory_iterator at(path, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    const auto name = at->path().lexically_relative(path).string();
    if (auto added = add(at->path(), root, name, list); !added) return tl::unexpected(added.error());
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return file_failure("cannot list " + path, error.value());
  return list;
}

}  // namespace gpupool::carry
