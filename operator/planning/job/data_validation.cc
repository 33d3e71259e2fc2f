// SPDX-License-Identifier: Apache-2.0
#include "planning/job/data_validation.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/v1alpha1/job_data.h"
#include "api/v1alpha1/reasons.h"
#include "base/quantity.h"
#include "planning/job/name_checks.h"

namespace gpupool::planning {
namespace {

constexpr std::size_t kMaxItems = 32;
constexpr std::size_t kMaxResults = 8;
constexpr std::int64_t kMaxSeconds = 86400;
constexpr std::int64_t kLeastSync = 10;

// A problem as text; empty: none.
using Why = std::string;

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Why check_path(std::string_view path) {
  if (path.empty()) return "must be set";
  if (path.front() == '/') return "must be relative to /gpupool/work";
  return problem_of_path(path);
}

Why check_url(std::string_view url) {
  const auto scheme_end = url.find("://");
  const auto scheme = url.substr(0, std::min(scheme_end, url.size()));
  if (scheme != "http" && scheme != "https") return "must begin with http:// or https://";
  const auto rest = url.substr(scheme_end + 3);
  const auto host = rest.substr(0, std::min(rest.find_first_of("/?#"), rest.size()));
  if (host.empty()) return "has no host";
  // The URL itself is not shown: it has a password in it.
  if (host.find('@') != std::string_view::npos)
    return "must not contain a user or a password: put them into a Secret, and name it in `secret`";
  if (std::ranges::any_of(url, [](char c) { return static_cast<unsigned char>(c) <= ' '; }))
    return "must not contain spaces or control characters";
  return {};
}

Why check_s3(const api::S3Location& s3) {
  if (!s3.endpoint.empty()) {
    if (auto why = check_url(s3.endpoint); !why.empty()) return "endpoint " + why;
  }
  const auto usual = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  if (s3.bucket.size() < 3 || s3.bucket.size() > 63 || !std::ranges::all_of(s3.bucket, usual) ||
      s3.bucket.find("..") != std::string::npos)
    return "bucket must be the name of a bucket: 3 to 63 small letters, digits, dots and dashes";
  return {};
}

// In `where`, a text before the name of a field.
Why check_location(const api::SourceItem& item) {
  if (item.http) {
    auto why = check_url(item.http->url);
    return why.empty() ? why : "http.url " + why;
  }
  if (item.s3) {
    if (item.s3->key.empty() == item.s3->prefix.empty()) return "s3 needs either key or prefix";
    auto why = check_s3(*item.s3);
    return why.empty() ? why : "s3." + why;
  }
  if (item.git) {
    if (auto why = check_url(item.git->url); !why.empty()) return "git.url " + why;
    if (!is_hex(item.git->commit, 40) && !is_hex(item.git->commit, 64))
      return "git.commit must be a whole commit id, 40 or 64 lower-case hex digits; a branch may change";
    if (item.git->subdirectory.empty()) return {};
    auto why = check_path(item.git->subdirectory);
    return why.empty() ? why : "git.subdirectory " + why;
  }
  if (item.config_map) {
    if (!is_object_name(item.config_map->name)) return "configMap.name must be the name of a ConfigMap";
    return item.config_map->key.empty() ? "configMap.key must be set" : "";
  }
  return {};
}

bool is_inside(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

Why check_item(const api::SourceItem& item) {
  if (auto why = check_path(item.path); !why.empty()) return "path " + why;
  const int kinds = (item.http ? 1 : 0) + (item.s3 ? 1 : 0) + (item.git ? 1 : 0) + (item.config_map ? 1 : 0) +
                    (item.csv ? 1 : 0);
  if (kinds != 1) return "needs exactly one of http, s3, git, configMap and csv";
  if (auto why = check_location(item); !why.empty()) return why;
  const bool one_file = item.http || item.config_map || (item.s3 && !item.s3->key.empty());
  if (!item.sha256.empty() && !is_hex(item.sha256, 64)) return "sha256 must be 64 lower-case hex digits";
  if (!item.sha256.empty() && !one_file) return "sha256 is for one file: http, configMap, or s3 with a key";
  if (item.unpack && !one_file) return "unpack is for one file: http, configMap, or s3 with a key";
  if (item.secret.empty()) return {};
  if (item.config_map || item.csv) return "secret is for http, s3 and git";
  return is_object_name(item.secret) ? "" : "secret must be the name of a Secret";
}

// A CSV item is made from a file of an item before it that is no CSV item itself.
Why check_csv(const std::vector<api::SourceItem>& items, std::size_t index) {
  const auto& from = items[index].csv->from;
  if (auto why = check_path(from); !why.empty()) return "csv.from " + why;
  const bool known = std::any_of(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(index),
                                 [&](const api::SourceItem& item) {
                                   return !item.csv && (item.path == from || is_inside(from, item.path));
                                 });
  return known ? "" : "csv.from must be the path of an item before this one, or of a file in one";
}

Why check_source(const base::json::RawJson& text) {
  const auto source = base::json::read<api::JobSource>(text.text);
  if (!source) return ": " + source.error().message;
  if (!source->size_limit.empty() && base::parse_quantity(source->size_limit).value_or(0) < 1)
    return ".sizeLimit: \"" + source->size_limit + "\" is not a quantity such as 20Gi";
  if (source->timeout_seconds < 1 || source->timeout_seconds > kMaxSeconds)
    return ".timeoutSeconds must be from 1 to 86400";
  const auto& items = source->items;
  if (items.empty() || items.size() > kMaxItems) return ".items must have 1 to 32 entries";
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto here = ".items[" + std::to_string(i) + "]: ";
    if (auto why = check_item(items[i]); !why.empty()) return here + why;
    for (std::size_t k = 0; k < i; ++k) {
      if (items[i].path == items[k].path || is_inside(items[i].path, items[k].path) ||
          is_inside(items[k].path, items[i].path))
        return here + "path overlaps with that of items[" + std::to_string(k) + "]";
    }
    if (!items[i].csv) continue;
    if (auto why = check_csv(items, i); !why.empty()) return here + why;
  }
  return {};
}

Why check_target(const api::ResultTarget& to) {
  if (to.s3.has_value() == to.volume.has_value()) return "to needs either s3 or volume";
  if (to.s3) {
    if (!to.s3->key.empty()) return "to.s3.key is for sources: results have a prefix";
    auto why = check_s3(*to.s3);
    return why.empty() ? why : "to.s3." + why;
  }
  if (!is_object_name(to.volume->claim_name))
    return "to.volume.claimName must be the name of a PersistentVolumeClaim";
  if (to.volume->path.empty()) return {};
  auto why = check_path(to.volume->path);
  return why.empty() ? why : "to.volume.path " + why;
}

Why check_result(const api::JobResult& result, std::int64_t workers) {
  const std::string_view from = result.from;
  const std::string_view work = api::kWorkDirectory;
  if (!is_inside(from, work)) return "from must be a path below /gpupool/work/";
  if (auto why = check_path(from.substr(work.size() + 1)); !why.empty()) return "from " + why;
  if (auto why = check_target(result.to); !why.empty()) return why;
  if (!result.secret.empty() && !is_object_name(result.secret)) return "secret must be the name of a Secret";
  if (!result.secret.empty() && result.to.volume) return "secret is for s3";
  if (result.when != api::results_when::kAlways && result.when != api::results_when::kOnSuccess)
    return "when must be Always or OnSuccess";
  if (result.timeout_seconds < 1 || result.timeout_seconds > kMaxSeconds)
    return "timeoutSeconds must be from 1 to 86400";
  if (result.sync_seconds != 0 && (result.sync_seconds < kLeastSync || result.sync_seconds > kMaxSeconds))
    return "syncSeconds must be 0 or from 10 to 86400";
  for (const auto rank : result.ranks) {
    if (rank < 0 || rank >= workers)
      return "ranks: the job has no rank " + std::to_string(rank) + ", only 0 to " +
             std::to_string(workers - 1);
  }
  const auto& place = result.to.s3 ? result.to.s3->prefix : result.to.volume->path;
  if (result.ranks.size() > 1 && place.find("$(rank)") == std::string::npos)
    return std::string("to.") + (result.to.s3 ? "s3.prefix" : "volume.path") +
           " must contain $(rank), because several ranks save results";
  return {};
}

std::string place_of(const api::ResultTarget& to) {
  auto place = to.s3 ? to.s3->endpoint + " " + to.s3->bucket + " " + to.s3->prefix
                     : to.volume->claim_name + " " + to.volume->path;
  while (place.ends_with('/')) place.pop_back();
  return place;
}

Why check_results(const base::json::RawJson& text, std::int64_t workers) {
  const auto results = base::json::read<std::vector<api::JobResult>>(text.text);
  if (!results) return ": " + results.error().message;
  if (results->empty() || results->size() > kMaxResults) return " must have 1 to 8 entries";
  for (std::size_t i = 0; i < results->size(); ++i) {
    if (auto why = check_result((*results)[i], workers); !why.empty())
      return "[" + std::to_string(i) + "]: " + why;
    for (std::size_t k = 0; k < i; ++k) {
      if (place_of((*results)[i].to) == place_of((*results)[k].to))
        return "[" + std::to_string(i) + "]: to is the place of [" + std::to_string(k) +
               "]: each needs its own, for its manifest.json";
    }
  }
  return {};
}

}  // namespace

std::optional<api::Problem> validate_data(const api::GpuJobSpec& spec) {
  const auto problem = [](const char* field, const Why& why) {
    return api::Problem{api::reason::kInvalidSpec, field + why};
  };
  if (spec.source) {
    if (auto why = check_source(*spec.source); !why.empty()) return problem("spec.source", why);
  }
  if (spec.results) {
    if (auto why = check_results(*spec.results, api::worker_count(spec)); !why.empty())
      return problem("spec.results", why);
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
