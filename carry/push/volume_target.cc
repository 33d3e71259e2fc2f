// SPDX-License-Identifier: Apache-2.0
#include "push/volume_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "files/directories.h"
#include "files/file_error.h"
#include "files/open_below.h"
#include "files/output_file.h"
#include "files/relative_path.h"
#include "files/size_budget.h"

namespace gpupool::carry {
namespace {

class VolumeTarget final : public ResultTarget {
 public:
  VolumeTarget(base::UniqueFd directory, std::string text)
      : directory_(std::move(directory)), text_(std::move(text)) {}

  Outcome<std::string> put(int root, const std::string& path, const std::string& name,
                           base::SteadyTime /*deadline*/, std::stop_token stop) override {
    auto source = open_below(root, path);
    if (!source) return tl::unexpected(source.error());
    auto file = OutputFile::open(directory_.get(), name, "", unlimited_);
    if (!file) return tl::unexpected(file.error());
    std::vector<char> buffer(1U << 20U);
    for (;;) {
      if (stop.stop_requested()) return failed(FailureKind::kStopped, "was stopped");
      const auto got = ::read(source->get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return file_failure("cannot read " + path, errno);
      if (got == 0) break;
      if (auto done = file->write({buffer.data(), static_cast<std::size_t>(got)}); !done)
        return tl::unexpected(done.error());
    }
    auto written = file->commit("");
    if (!written) return tl::unexpected(written.error());
    return written->sha256;
  }

  Outcome<void> put_text(const std::string& text, const std::string& name, base::SteadyTime /*deadline*/,
                         std::stop_token /*stop*/) override {
    auto file = OutputFile::open(directory_.get(), name, "", unlimited_);
    if (!file) return tl::unexpected(file.error());
    if (auto done = file->write(text); !done) return done;
    if (auto written = file->commit(""); !written) return tl::unexpected(written.error());
    return {};
  }

  Outcome<void> remove(const std::string& name, base::SteadyTime /*deadline*/,
                       std::stop_token /*stop*/) override {
    auto parts = split_path(name);
    if (!parts) return tl::unexpected(parts.error());
    const auto last = std::move(parts->back());
    parts->pop_back();
    auto directory = make_directories(directory_.get(), *parts);
    if (!directory) return tl::unexpected(directory.error());
    if (::unlinkat(directory->get(), last.c_str(), 0) != 0 && errno != ENOENT)
      return file_failure("cannot remove " + name, errno);
    return {};
  }

  std::string text() const override { return text_; }

 private:
  base::UniqueFd directory_;
  const std::string text_;
  SizeBudget unlimited_{std::numeric_limits<std::int64_t>::max()};
};

}  // namespace

Outcome<std::unique_ptr<ResultTarget>> make_volume_target(const std::string& directory,
                                                          const std::string& claim, const std::string& path) {
  auto root = open_directory(directory);
  if (!root) return tl::unexpected(root.error());
  auto text = "claim " + claim;
  if (!path.empty()) {
    text += ": " + path;
    const auto parts = split_path(path);
    if (!parts) return tl::unexpected(parts.error());
    root = make_directories(root->get(), *parts);
    if (!root) return tl::unexpected(root.error());
  }
  return std::make_unique<VolumeTarget>(*std::move(root), std::move(text));
}

}  // namespace gpupool::carry
