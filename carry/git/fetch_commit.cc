// SPDX-License-Identifier: Apache-2.0
#include "git/fetch_commit.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "base/backoff.h"
#include "digest/sha256.h"
#include "files/directories.h"
#include "files/new_tree.h"
#include "files/relative_path.h"
#include "files/remove_tree.h"
#include "git/checkout.h"
#include "git/fetch_answer.h"
#include "git/git_advertisement.h"
#include "git/git_http.h"
#include "git/git_request_body.h"
#include "git/pack_store.h"

namespace gpupool::carry {
namespace {

constexpr std::size_t kSha1Digits = 40;
constexpr std::size_t kSha256Digits = 64;

Outcome<void> check_location(const api::GitLocation& location) {
  const auto& commit = location.commit;
  const bool hex = commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hex || (commit.size() != kSha1Digits && commit.size() != kSha256Digits))
    return failed(FailureKind::kInvalid,
                  "git.commit must be the whole name of a commit: 40 lower-case hex digits");
  if (commit.size() == kSha256Digits)
    return failed(FailureKind::kInvalid,
                  "git.commit is the name of a SHA-256 repository, and only those with SHA-1 can be fetched");
  if (location.subdirectory.empty()) return {};
  if (auto parts = split_path(location.subdirectory); !parts)
    return failed(parts.error().kind, "git.subdirectory: " + parts.error().message);
  return {};
}

// A directory for the pack, that goes with the object.
class Scratch {
 public:
  static Outcome<Scratch> begin(const std::string& above, const std::string& path) {
    auto directory = open_directory(above);
    if (!directory) return tl::unexpected(directory.error());
    std::string name = ".git-" + digest::sha256_hex(path).substr(0, 32) + std::string(kPartSuffix);
    if (auto removed = remove_tree(directory->get(), name); !removed) return tl::unexpected(removed.error());
    auto made = make_directories(directory->get(), {name});
    if (!made) return tl::unexpected(made.error());
    return Scratch(std::move(*directory), above, std::move(name));
  }
  Scratch(Scratch&&) = default;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (directory_.valid()) (void)remove_tree(directory_.get(), name_);  // else the next process tries again
  }
  std::string path() const { return above_ + "/" + name_; }

 private:
  Scratch(base::UniqueFd directory, std::string above, std::string name)
      : directory_(std::move(directory)), above_(std::move(above)), name_(std::move(name)) {}

  base::UniqueFd directory_;
  std::string above_;
  std::string name_;
};

std::string left_out(const CheckedOut& done) {
  std::string text;
  if (done.submodules > 0) {
    text = done.submodules == 1 ? "1 submodule is left out: "
                                : std::to_string(done.submodules) + " submodules are left out, the first is ";
    text += done.first_submodule;
  }
  if (done.lfs_pointers > 0) {
    if (!text.empty()) text += "; ";
    text += done.lfs_pointers == 1 ? "1 file is a pointer of Git LFS"
                                   : std::to_string(done.lfs_pointers) + " files are pointers of Git LFS";
    text += ", without the content";
  }
  return text;
}

std::int64_t doubled(std::int64_t bytes) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return bytes > kMost / 2 ? kMost : bytes * 2;
}

class Fetch {
 public:
  Fetch(const GitRequest& request, GitUrl url, GitCredentials credentials, int root, SizeBudget& budget,
        std::stop_token stop)
      : request_(request),
        url_(std::move(url)),
        credentials_(std::move(credentials)),
        root_(root),
        budget_(budget),
        stop_(std::move(stop)) {}

  Outcome<GitTree> until_deadline() {
    using std::chrono::seconds;
    base::Backoff backoff({.initial = request_.first_wait, .factor = 2.0, .cap = seconds(30), .jitter = 0.5},
                          std::random_device()());
    base::SystemClock clock;
    for (int tries = 1;; ++tries) {
      wait_ = {};
      auto tree = once();
      if (tree || tree.error().kind != FailureKind::kUnavailable) return tree;
      const auto delay = std::max<base::Duration>(backoff.next(clock.now()), wait_);
      if (clock.now() + delay >= request_.deadline)
        return failed(FailureKind::kUnavailable, tree.error().message + "; given up after " +
                                                     std::to_string(tries) +
                                                     (tries == 1 ? " try" : " tries"));
      if (!clock.sleep_for(delay, stop_))
        return failed(FailureKind::kStopped, "stopped while fetching " + url_.text());
    }
  }

 private:
  Outcome<GitTree> once() {
    GitHttp http(url_, credentials_, request_.idle);
    auto fetched = fetch(http);
    wait_ = http.retry_after();
    return fetched;
  }

  Outcome<GitTree> fetch(GitHttp& http) {
    const auto refs = http.get_refs(request_.deadline, stop_);
    if (!refs) return tl::unexpected(refs.error());
    if (auto checked = check_advertisement(*refs, http.url().text()); !checked)
      return tl::unexpected(checked.error());
    const auto scratch = Scratch::begin(request_.scratch, request_.path);
    if (!scratch) return tl::unexpected(scratch.error());
    auto pack = PackStore::begin(scratch->path(), doubled(budget_.left()));
    if (!pack) return tl::unexpected(pack.error());
    const auto& commit = request_.location.commit;
    FetchAnswer answer(commit, http.url().text(),
                       [&](std::string_view bytes) { return pack->append(bytes); });
    const auto posted = http.post_upload_pack(
        fetch_body(commit), [&](std::string_view bytes) { return answer.feed(bytes); }, request_.deadline,
        stop_);
    if (!posted) return tl::unexpected(posted.error());
    if (!answer.whole())
      return failed(FailureKind::kUnavailable,
                    "the answer of " + http.url().text() + " ends within its pack");
    if (auto finished = pack->finish(); !finished) return tl::unexpected(finished.error());
    return write_tree(*pack);
  }

  Outcome<GitTree> write_tree(PackStore& pack) {
    auto tree = NewTree::begin(root_, request_.path, budget_);
    if (!tree) return tl::unexpected(tree.error());
    auto done =
        check_out(pack.objects(), request_.location.commit, request_.location.subdirectory, *tree, stop_);
    if (!done) return tl::unexpected(done.error());
    const auto bytes = tree->bytes();
    if (auto committed = tree->commit(); !committed) return tl::unexpected(committed.error());
    return GitTree{"git:" + done->commit, done->files, bytes, left_out(*done)};
  }

  const GitRequest& request_;
  GitUrl url_;
  GitCredentials credentials_;
  int root_;
  SizeBudget& budget_;
  std::stop_token stop_;
  base::Duration wait_{};  // what the server asks for
};

}  // namespace

Outcome<GitTree> fetch_commit(const GitRequest& request, int root, SizeBudget& budget, std::stop_token stop) {
  auto url = parse_git_url(request.location.url);
  if (!url) return tl::unexpected(url.error());
  if (auto checked = check_location(request.location); !checked) return tl::unexpected(checked.error());
  if (auto parts = split_path(request.path); !parts) return tl::unexpected(parts.error());
  auto credentials = read_git_credentials(request.secret_directory);
  if (!credentials) return tl::unexpected(credentials.error());
  return Fetch(request, std::move(*url), std::move(*credentials), root, budget, std::move(stop))
      .until_deadline();
}

}  // namespace gpupool::carry
