// SPDX-License-Identifier: Apache-2.0
#include "results/fetch_place.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/read_file.h"
#include "files/directories.h"
#include "files/size_budget.h"
#include "push/push_results.h"
#include "results/saved_files.h"
#include "s3/list.h"
#include "transfer/download.h"

namespace gpupool::results {
namespace {

using carry::FailureKind;
using carry::Outcome;

constexpr std::chrono::seconds kForManifest{60};
constexpr std::size_t kMostManifest = 512 * base::kMiB;
constexpr int kOwn = 0600;

constexpr char kManifest[] = "manifest.json";
static_assert(std::string_view(kManifest) == carry::ResultPush::kManifest);

// A manifest may be large, so it goes through a file, which is removed at once.
Outcome<std::string> manifest_text(carry::s3::Session& bucket, const Place& place,
                                   const FetchOptions& options, const carry::s3::Context& context) {
  static constexpr char kName[] = ".gpupool-manifest";
  const auto directory = carry::open_directory(options.to);
  if (!directory) return tl::unexpected(directory.error());
  carry::HttpConnection connection(bucket.trust());
  carry::SizeBudget most(static_cast<std::int64_t>(kMostManifest));
  const carry::Download wanted{.url = carry::s3::object_target(place.to.s3->prefix + kManifest),
                               .path = kName,
                               .use_if_match = true,
                               .deadline = std::min<base::SteadyTime>(
                                   context.deadline, std::chrono::steady_clock::now() + kForManifest),
                               .idle = context.idle,
                               .mode = kOwn};
  const auto written =
      carry::download(connection, bucket, wanted, directory->get(), most, context.waiting, context.stop);
  if (!written) return tl::unexpected(written.error());
  auto text = base::read_file(options.to + "/" + kName, kMostManifest);
  ::unlinkat(directory->get(), kName, 0);
  if (!text) return carry::failed(FailureKind::kLocal, text.error().message);
  return *std::move(text);
}

// Why the manifest is not that of this job, attempt and rank; empty if it is.
std::string stranger(const SavedFiles& saved, const Place& place, const FetchOptions& options) {
  if (saved.job != options.job || saved.ns != options.ns)
    return "its manifest.json is that of job " + saved.job + " in namespace " + saved.ns;
  if (saved.attempt != place.attempt)
    return "its manifest.json is that of attempt " + std::to_string(saved.attempt) + ", and attempt " +
           std::to_string(place.attempt) + " is wanted";
  if (saved.rank != place.rank) return "its manifest.json is that of rank " + std::to_string(saved.rank);
  return {};
}

// What is in the bucket, whatever it is.
Outcome<std::vector<WantedFile>> listed_files(carry::s3::Session& bucket, const Place& place,
                                              const carry::s3::Context& context) {
  carry::HttpConnection connection(bucket.trust());
  const auto listing = carry::s3::list(bucket, connection, place.to.s3->prefix, context);
  if (!listing) return tl::unexpected(listing.error());
  std::vector<WantedFile> files;
  files.reserve(listing->size());
  for (std::size_t i = 0; i < listing->size(); ++i) {
    const auto object = listing->at(i);
    if (object.name == kManifest) continue;
    files.push_back({.key = std::string(object.key),
                     .path = std::string(object.name),
                     .bytes = object.size,
                     .etag = std::string(object.etag)});
  }
  return files;
}

std::vector<WantedFile> wanted_files(const SavedFiles& saved, const Place& place) {
  std::vector<WantedFile> files;
  files.reserve(saved.files.size());
  for (const auto& file : saved.files)
    files.push_back({.key = place.to.s3->prefix + file.path,
                     .path = file.path,
                     .bytes = file.bytes,
                     .sha256 = file.sha256});
  return files;
}

}  // namespace

Outcome<FetchedPlace> fetch_place(carry::s3::Session& bucket, const Place& place, const FetchOptions& options,
                                  const carry::s3::Context& context) {
  std::error_code error;
  std::filesystem::create_directories(options.to, error);
  if (error)
    return carry::failed(FailureKind::kLocal,
                         "cannot make the directory " + options.to + ": " + error.message());
  FetchedPlace fetched;
  std::optional<std::vector<WantedFile>> files;
  const auto text = manifest_text(bucket, place, options, context);
  if (text) {
    const auto saved = parse_saved_files(*text);
    if (!saved) return tl::unexpected(saved.error());
    fetched.why = stranger(*saved, place, options);
    if (fetched.why.empty()) files = wanted_files(*saved, place);
  } else if (text.error().kind == FailureKind::kNotFound) {
    fetched.why = "there is no manifest.json";
  } else {
    return tl::unexpected(text.error());
  }
  fetched.complete = files.has_value();
  if (!files && options.incomplete) {
    auto listed = listed_files(bucket, place, context);
    if (!listed) return tl::unexpected(listed.error());
    files = *std::move(listed);
  }
  if (!files) {
    ::rmdir(options.to.c_str());  // if nothing is in it
    return fetched;
  }
  auto done = fetch_files(bucket, *files, options.to + "/" + place.directory, context);
  if (!done) return tl::unexpected(done.error());
  fetched.done = *done;
  return fetched;
}

}  // namespace gpupool::results
