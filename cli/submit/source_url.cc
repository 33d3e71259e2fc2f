// SPDX-License-Identifier: Apache-2.0
#include "submit/source_url.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "files/relative_path.h"
#include "git/git_url.h"
#include "s3/address.h"
#include "transfer/url.h"

namespace gpupool::submit {
namespace {

using Done = base::Result<void>;

tl::unexpected<base::Error> refuse(const std::string& flag, const std::string& path, const std::string& why) {
  return base::fail(base::ErrorCode::kInvalidArgument, flag + " " + path + ": " + why);
}

struct Assigned {
  std::string path;
  std::string url;
};

// "PATH=URL". Nothing of the URL is in an error.
base::Result<Assigned> split_at_equals(const std::string& flag, const char* form, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || text.find("://") < equals)
    return base::fail(base::ErrorCode::kInvalidArgument, flag + ": what is given is not " + form);
  Assigned found{text.substr(0, equals), text.substr(equals + 1)};
  while (found.path.ends_with('/')) found.path.pop_back();
  if (const auto good = carry::split_path(found.path); !good)
    return refuse(flag, found.path, "is no path below /gpupool/work: " + good.error().message);
  return found;
}

// Takes "#sha256=HEX" from the end of the URL.
Done take_sha256(const std::string& path, std::string& url, std::string& sha256) {
  static constexpr std::string_view kName = "sha256=";
  static constexpr std::size_t kDigits = 64;
  const auto hash = url.find('#');
  if (hash == std::string::npos) return {};
  std::string_view fragment = std::string_view(url).substr(hash + 1);
  const bool named = fragment.starts_with(kName);
  if (named) fragment.remove_prefix(kName.size());
  const auto lower = [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  sha256.resize(fragment.size());
  std::transform(fragment.begin(), fragment.end(), sha256.begin(), lower);
  if (!named || sha256.size() != kDigits || !std::all_of(sha256.begin(), sha256.end(), is_digit))
    return refuse("--source", path, "after # there must be sha256= and 64 hex digits");
  url.resize(hash);
  return {};
}

// What is behind s3://, as bucket and the rest.
base::Result<api::S3Location> bucket_of(const std::string& flag, const std::string& path,
                                        std::string_view rest) {
  api::S3Location location;
  const auto slash = rest.find('/');
  location.bucket = rest.substr(0, slash);
  if (slash != std::string_view::npos) location.prefix = rest.substr(slash + 1);
  if (const auto good = carry::s3::address_of(location); !good)
    return refuse(flag, path, good.error().message);
  return location;
}

Done read_http(std::string url, api::SourceItem& item) {
  if (auto taken = take_sha256(item.path, url, item.sha256); !taken) return taken;
  if (const auto good = carry::parse_url(url); !good)
    return refuse("--source", item.path,
                  good.error().message + " (credentials go into a Secret, which --source-secret names)");
  item.http = api::HttpLocation{std::move(url)};
  return {};
}

Done read_s3(std::string url, api::SourceItem& item) {
  if (auto taken = take_sha256(item.path, url, item.sha256); !taken) return taken;
  auto location =
      bucket_of("--source", item.path, std::string_view(url).substr(std::string_view("s3://").size()));
  if (!location) return tl::unexpected<base::Error>(location.error());
  if (location->prefix.empty())
    return refuse("--source", item.path,
                  "name an object, or with a slash at the end what all objects begin with: s3://" +
                      location->bucket + "/data/");
  const bool all = location->prefix.ends_with('/');
  if (!all) std::swap(location->key, location->prefix);
  if (all && !item.sha256.empty())
    return refuse("--source", item.path, "sha256 is for one object, and a prefix has many");
  item.s3 = *std::move(location);
  return {};
}

Done read_git(std::string url, api::SourceItem& item) {
  url.erase(0, std::string_view("git+").size());
  const auto host = url.find("://") + 3;
  const auto path = url.find('/', host);
  const auto at = url.rfind('@');
  api::GitLocation location;
  if (at != std::string::npos && path != std::string::npos && at > path) {
    location.commit = url.substr(at + 1);
    url.resize(at);
  }
  if (const auto twice = url.find("//", host); twice != std::string::npos) {
    location.subdirectory = url.substr(twice + 2);
    url.resize(twice);
    while (location.subdirectory.ends_with('/')) location.subdirectory.pop_back();
    if (const auto good = carry::split_path(location.subdirectory); !good)
      return refuse("--source", item.path, "the subdirectory is no path: " + good.error().message);
  }
  if (const auto good = carry::parse_git_url(url); !good)
    return refuse("--source", item.path, good.error().message);
  if (location.commit.empty())
    return refuse("--source", item.path, "add @BRANCH, @TAG or @COMMIT at the end of the URL");
  location.url = std::move(url);
  item.git = std::move(location);
  return {};
}

}  // namespace

base::Result<api::SourceItem> parse_source(const std::string& text) {
  auto assigned = split_at_equals("--source", "PATH=URL", text);
  if (!assigned) return tl::unexpected<base::Error>(assigned.error());
  api::SourceItem item;
  item.path = std::move(assigned->path);
  std::string& url = assigned->url;
  Done read = refuse("--source", item.path, "the URL must begin with https://, s3:// or git+https://");
  if (url.starts_with("https://") || url.starts_with("http://"))
    read = read_http(std::move(url), item);
  else if (url.starts_with("s3://"))
    read = read_s3(std::move(url), item);
  else if (url.starts_with("git+https://") || url.starts_with("git+http://"))
    read = read_git(std::move(url), item);
  if (!read) return tl::unexpected<base::Error>(read.error());
  return item;
}

base::Result<api::JobResult> parse_result(const std::string& text) {
  static constexpr std::string_view kBucket = "s3://";
  static constexpr std::string_view kClaim = "pvc://";
  const auto assigned = split_at_equals("--result", "FROM=URL", text);
  if (!assigned) return tl::unexpected<base::Error>(assigned.error());
  api::JobResult result;
  result.from = std::string(api::kWorkDirectory) + "/" + assigned->path;
  std::string_view rest = assigned->url;
  if (rest.starts_with(kBucket)) {
    auto location = bucket_of("--result", assigned->path, rest.substr(kBucket.size()));
    if (!location) return tl::unexpected<base::Error>(location.error());
    result.to.s3 = *std::move(location);
    return result;
  }
  if (!rest.starts_with(kClaim))
    return refuse("--result", assigned->path, "the URL must begin with s3:// or pvc://");
  rest.remove_prefix(kClaim.size());
  api::VolumeLocation volume;
  volume.claim_name = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(volume.claim_name.size() + 1, rest.size()));
  while (rest.ends_with('/')) rest.remove_suffix(1);
  volume.path = rest;
  if (volume.claim_name.empty()) return refuse("--result", assigned->path, "name a claim: pvc://CLAIM/PATH");
  if (!volume.path.empty() && !carry::split_path(volume.path))
    return refuse("--result", assigned->path, "what is after the claim is no path in it");
  result.to.volume = std::move(volume);
  return result;
}

}  // namespace gpupool::submit
