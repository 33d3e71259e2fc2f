// SPDX-License-Identifier: Apache-2.0
#include "s3/fetch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "s3/complete_file.h"
#include "s3/list.h"
#include "transfer/download.h"

namespace gpupool::carry::s3 {
namespace {

constexpr std::size_t kAtATime = 8;

// All objects of a listing, fetched by several threads.
class PrefixFetch {
 public:
  PrefixFetch(Session& session, const Listing& listing, std::string path, const Destination& to,
              const Context& context)
      : session_(session),
        listing_(listing),
        path_(std::move(path)),
        to_(to),
        context_(context),
        digests_(listing.size()) {}

  Outcome<FetchedObjects> run();

 private:
  using Hex = std::array<char, 64>;

  void work();
  Outcome<std::string> fetch(HttpConnection& connection, const ListedObject& object);
  FetchedObjects result() const;

  Session& session_;
  const Listing& listing_;
  const std::string path_;
  const Destination to_;
  const Context& context_;
  std::vector<Hex> digests_;  // one thread writes each
  std::atomic<std::size_t> next_ = 0;
  std::stop_source ending_;
  base::Mutex mutex_;
  std::optional<Failure> first_failure_ GPUPOOL_GUARDED_BY(mutex_);
};

Outcome<FetchedObjects> PrefixFetch::run() {
  const std::stop_callback end(context_.stop, [this] { ending_.request_stop(); });
  {
    const std::size_t count = std::min(kAtATime, listing_.size());
    std::vector<std::jthread> workers;
    workers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
  }
  const base::MutexLock lock(mutex_);
  if (first_failure_) return tl::unexpected(*first_failure_);
  return result();
}

void PrefixFetch::work() {
  HttpConnection connection(session_.trust());
  for (std::size_t i = next_++; i < listing_.size(); i = next_++) {
    auto digest = ending_.stop_requested() ? failed(FailureKind::kStopped, "stopped")
                                           : fetch(connection, listing_.at(i));
    if (!digest) {
      const base::MutexLock lock(mutex_);
      if (!first_failure_) first_failure_ = std::move(digest.error());
      ending_.request_stop();
      return;
    }
    std::copy_n(digest->begin(), std::min(digest->size(), digests_[i].size()), digests_[i].begin());
  }
}

Outcome<std::string> PrefixFetch::fetch(HttpConnection& connection, const ListedObject& object) {
  const std::string path = path_ + "/" + std::string(object.name);
  auto complete = complete_file(to_.root, path, object.size, ending_.get_token());
  if (!complete) return tl::unexpected(complete.error());
  if (*complete) {
    if (auto taken = to_.budget.take(object.size); !taken) return tl::unexpected(taken.error());
    return std::move(**complete);
  }
  const Download wanted{.url = object_target(object.key),
                        .path = path,
                        .size = object.size,
                        .etag = std::string(object.etag),
                        .use_if_match = true,
                        .deadline = context_.deadline,
                        .idle = context_.idle};
  auto written =
      download(connection, session_, wanted, to_.root, to_.budget, context_.waiting, ending_.get_token());
  if (!written) return tl::unexpected(written.error());
  return std::move(written->sha256);
}

FetchedObjects PrefixFetch::result() const {
  digest::Sha256 all;
  for (std::size_t i = 0; i < listing_.size(); ++i) {
    all.add(listing_.at(i).name);
    all.add({"\0", 1});
    all.add({digests_[i].data(), digests_[i].size()});
    all.add("\n");
  }
  return {static_cast<std::int64_t>(listing_.size()), listing_.bytes(), all.hex()};
}

std::string kept_name(const api::S3Location& location) {
  return "s3-listing-" +
         digest::sha256_hex(location.endpoint + "\n" + location.bucket + "\n" + location.prefix)
             .substr(0, 32);
}

}  // namespace

Outcome<WrittenFile> fetch_object(const api::S3Location& location, const std::string& secret_directory,
                                  const std::string& path, const std::string& sha256, const Destination& to,
                                  const Context& context) {
  auto session = Session::open(location, secret_directory, *context.waiting.clock);
  if (!session) return tl::unexpected(session.error());
  HttpConnection connection((*session)->trust());
  const Download wanted{.url = object_target(location.key),
                        .path = path,
                        .sha256 = sha256,
                        .use_if_match = true,
                        .deadline = context.deadline,
                        .idle = context.idle};
  return download(connection, **session, wanted, to.root, to.budget, context.waiting, context.stop);
}

Outcome<FetchedObjects> fetch_prefix(const api::S3Location& location, const std::string& secret_directory,
                                     const std::string& path, int state, const Destination& to,
                                     const Context& context) {
  auto session = Session::open(location, secret_directory, *context.waiting.clock);
  if (!session) return tl::unexpected(session.error());
  Outcome<Listing> listing = [&] {
    HttpConnection connection((*session)->trust());
    return kept_list(**session, connection, location.prefix, state, kept_name(location), context);
  }();
  if (!listing) return tl::unexpected(listing.error());
  if (listing->bytes() > to.budget.left())
    return failed(FailureKind::kTooLarge, "the objects have " + std::to_string(listing->bytes()) +
                                              " bytes, and sizeLimit leaves " +
                                              std::to_string(to.budget.left()));
  return PrefixFetch(**session, *listing, path, to, context).run();
}

}  // namespace gpupool::carry::s3
