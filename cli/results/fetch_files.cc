// SPDX-License-Identifier: Apache-2.0
#include "results/fetch_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "files/directories.h"
#include "files/size_budget.h"
#include "s3/complete_file.h"
#include "transfer/download.h"

namespace gpupool::results {
namespace {

using carry::FailureKind;
using carry::Outcome;

constexpr std::size_t kAtATime = 8;

// carry would make directories that everybody may write, as the worker's user may be any.
Outcome<void> make_parents(const std::string& directory, const std::vector<WantedFile>& files) {
  std::set<std::filesystem::path> parents{directory};
  for (const auto& file : files) parents.insert((std::filesystem::path(directory) / file.path).parent_path());
  for (const auto& parent : parents) {
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error)
      return carry::failed(FailureKind::kLocal,
                           "cannot make the directory " + parent.string() + ": " + error.message());
  }
  return {};
}

class FilesFetch {
 public:
  FilesFetch(carry::s3::Session& bucket, const std::vector<WantedFile>& files, int root,
             const carry::s3::Context& context)
      : bucket_(bucket), files_(files), root_(root), context_(context), mode_(usual_file_mode()) {}

  Outcome<FetchedFiles> run() {
    const std::stop_callback end(context_.stop, [this] { ending_.request_stop(); });
    {
      const std::size_t count = std::min(kAtATime, files_.size());
      std::vector<std::jthread> workers;
      workers.reserve(count);
      for (std::size_t i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
    }
    const base::MutexLock lock(mutex_);
    if (first_failure_) return tl::unexpected(*first_failure_);
    return done_;
  }

 private:
  void work() {
    carry::HttpConnection connection(bucket_.trust());
    for (std::size_t i = next_++; i < files_.size(); i = next_++) {
      const auto kept = ending_.stop_requested() ? carry::failed(FailureKind::kStopped, "stopped")
                                                 : fetch(connection, files_[i]);
      const base::MutexLock lock(mutex_);
      if (!kept) {
        if (!first_failure_) first_failure_ = kept.error();
        ending_.request_stop();
        return;
      }
      ++done_.files;
      done_.bytes += files_[i].bytes;
      done_.kept += *kept ? 1 : 0;
    }
  }

  // Whether the file was there already.
  Outcome<bool> fetch(carry::HttpConnection& connection, const WantedFile& file) {
    if (!file.sha256.empty()) {
      const auto there = carry::s3::complete_file(root_, file.path, file.bytes, ending_.get_token());
      if (!there) return tl::unexpected(there.error());
      if (*there == file.sha256) return true;
    }
    const carry::Download wanted{.url = carry::s3::object_target(file.key),
                                 .path = file.path,
                                 .sha256 = file.sha256,
                                 .size = file.bytes,
                                 .etag = file.etag,
                                 .use_if_match = true,
                                 .deadline = context_.deadline,
                                 .idle = context_.idle,
                                 .mode = mode_};
    const auto written =
        carry::download(connection, bucket_, wanted, root_, plenty_, context_.waiting, ending_.get_token());
    if (written) return false;
    carry::Failure failure = written.error();
    if (failure.kind == FailureKind::kMismatch)
      failure.message = file.path + " is not as it was when it was saved: " + failure.message;
    return tl::unexpected(std::move(failure));
  }

  carry::s3::Session& bucket_;
  const std::vector<WantedFile>& files_;
  const int root_;
  const carry::s3::Context& context_;
  const int mode_;
  carry::SizeBudget plenty_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<std::size_t> next_ = 0;
  std::stop_source ending_;
  base::Mutex mutex_;
  FetchedFiles done_ GPUPOOL_GUARDED_BY(mutex_);
  std::optional<carry::Failure> first_failure_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace

Outcome<FetchedFiles> fetch_files(carry::s3::Session& bucket, const std::vector<WantedFile>& files,
                                  const std::string& directory, const carry::s3::Context& context) {
  if (auto made = make_parents(directory, files); !made) return tl::unexpected(made.error());
  const auto root = carry::open_directory(directory);
  if (!root) return tl::unexpected(root.error());
  return FilesFetch(bucket, files, root->get(), context).run();
}

int usual_file_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return static_cast<int>(0666U & ~mask);
}

}  // namespace gpupool::results
