// SPDX-License-Identifier: Apache-2.0
#include "enforcement/install_limiter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <system_error>

#include "allocation/container_paths.h"
#include "allocation/limits_file.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "base/write_all.h"

namespace gpupool::enforcement {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestLibrary = 64 * base::kMiB;
constexpr const char* kCurrent = "/current";
constexpr std::size_t kVersionLength = 32;

tl::unexpected<base::Error> install_failed(const char* what, const std::string& path) {
  return base::fail(base::ErrorCode::kIo, "cannot " + std::string(what) + " " + path + ": " +
                                              std::generic_category().message(errno));
}

// On the disk before it has its name: a loss of power must not leave half a library.
base::Result<void> put_file(const std::string& path, const std::string& content) {
  const auto old = base::read_file(path, kLargestLibrary);
  if (old && *old == content) return {};
  const std::string unfinished = path + ".new";
  ::unlink(unfinished.c_str());
  {
    const base::UniqueFd file(
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444));
    if (file.get() < 0) return install_failed("create", unfinished);
    if (::fchmod(file.get(), 0444) != 0 || !base::write_all(file.get(), content) ||
        ::fsync(file.get()) != 0) {
      return install_failed("write", unfinished);
    }
  }
  if (::rename(unfinished.c_str(), path.c_str()) != 0) return install_failed("write", path);
  return {};
}

bool is_version(const std::string& text) {
  return text.size() == kVersionLength && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

base::Result<std::string> install_limiter(const std::string& from, const std::string& to) {
  std::map<std::string, std::string> files;
  std::string all;
  std::string preload;
  for (const char* name : allocation::kLibraries) {
    auto content = base::read_file(from + "/" + name, kLargestLibrary);
    if (!content) return tl::unexpected<base::Error>(content.error());
    all += std::string(name) + " " + std::to_string(content->size()) + "\n" + *content;
    preload += std::string(allocation::kLibraryFolder) + "/" + name + "\n";
    files[name] = std::move(*content);
  }
  files[allocation::kPreloadFile] = preload;
  const std::string version = allocation::fingerprint(all);
  const std::string folder = to + "/" + version;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    errno = error.value();
    return install_failed("create", folder);
  }
  ::chmod(folder.c_str(), 0755);  // containers run as any user
  for (const auto& [name, content] : files) {
    if (auto put = put_file(folder + "/" + name, content); !put)
      return tl::unexpected<base::Error>(put.error());
  }
  if (auto put = put_file(to + kCurrent, version + "\n"); !put)
    return tl::unexpected<base::Error>(put.error());
  return folder;
}

base::Result<std::string> installed_limiter(const std::string& to) {
  auto text = base::read_file(to + kCurrent, base::kMiB);
  if (!text) return tl::unexpected<base::Error>(text.error());
  while (!text->empty() && text->back() == '\n') text->pop_back();
  if (is_version(*text)) return to + "/" + *text;
  return base::fail(base::ErrorCode::kParse, to + kCurrent + " names no version of the limiter");
}

}  // namespace gpupool::enforcement
