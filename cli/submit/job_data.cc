// SPDX-License-Identifier: Apache-2.0
#include "submit/job_data.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "s3/address.h"
#include "submit/source_url.h"

namespace gpupool::submit {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<base::Error> misfit(std::string message) {
  return base::fail(base::ErrorCode::kInvalidArgument, std::move(message));
}

api::SourceItem* find_item(JobData& data, std::string path) {
  while (path.ends_with('/')) path.pop_back();
  const auto at = std::ranges::find(data.source, path, &api::SourceItem::path);
  return at == data.source.end() ? nullptr : &*at;
}

base::Result<void> mark_archives(const DataFlags& flags, JobData& data) {
  for (const auto& path : flags.unpack) {
    auto* const item = find_item(data, path);
    if (item == nullptr) return misfit("--unpack " + path + ": there is no --source " + path + "=URL");
    if (item->git || (item->s3 && item->s3->key.empty()))
      return misfit("--unpack " + path + ": only a file of https:// or one object of s3:// can be unpacked");
    item->unpack = true;
  }
  return {};
}

// First the one for all items, then those of single ones.
base::Result<void> add_secrets(const DataFlags& flags, JobData& data) {
  std::string for_all;
  for (const auto& text : flags.source_secrets) {
    if (text.empty() || text.find('=') != std::string::npos) continue;
    if (!for_all.empty())
      return misfit("--source-secret " + text + ": " + for_all +
                    " is already for all items; write PATH=NAME for one of them");
    for_all = text;
  }
  for (auto& item : data.source) item.secret = for_all;
  for (const auto& text : flags.source_secrets) {
    const auto equals = text.find('=');
    if (!text.empty() && equals == std::string::npos) continue;
    if (text.empty() || equals == 0 || equals + 1 == text.size())
      return misfit("--source-secret: \"" + text + "\" is not NAME or PATH=NAME");
    auto* const item = find_item(data, text.substr(0, equals));
    if (item == nullptr)
      return misfit("--source-secret " + text + ": there is no --source " + text.substr(0, equals) + "=URL");
    item->secret = text.substr(equals + 1);
  }
  return {};
}

base::Result<void> add_server(const DataFlags& flags, JobData& data) {
  if (flags.s3_endpoint.empty() && flags.s3_region.empty()) return {};
  std::vector<api::S3Location*> locations;
  locations.reserve(data.source.size() + data.results.size());
  for (auto& item : data.source)
    if (item.s3) locations.push_back(&*item.s3);
  for (auto& result : data.results)
    if (result.to.s3) locations.push_back(&*result.to.s3);
  if (locations.empty()) return misfit("--s3-endpoint and --s3-region need a --source or --result of s3://");
  for (auto* const location : locations) {
    location->endpoint = flags.s3_endpoint;
    location->region = flags.s3_region;
    if (const auto good = carry::s3::address_of(*location); !good)
      return misfit("--s3-endpoint: " + good.error().message);
  }
  return {};
}

base::Result<void> complete_results(const DataFlags& flags, JobData& data) {
  bool any_bucket = false;
  for (auto& result : data.results) {
    result.sync_seconds = flags.sync_seconds.value_or(0);
    if (!result.to.s3) continue;
    any_bucket = true;
    result.secret = flags.result_secret;
  }
  if (!flags.result_secret.empty() && !any_bucket) return misfit("--result-secret needs a --result of s3://");
  if (flags.sync_seconds && data.results.empty()) return misfit("--sync needs --result");
  return {};
}

void put(Json& object, const char* name, const std::string& value) {
  if (!value.empty()) object[name] = value;
}

Json json_of(const api::S3Location& location) {
  Json json = Json::object();
  put(json, "endpoint", location.endpoint);
  put(json, "region", location.region);
  put(json, "bucket", location.bucket);
  put(json, "key", location.key);
  put(json, "prefix", location.prefix);
  return json;
}

Json json_of(const api::GitLocation& location) {
  Json json{{"url", location.url}, {"commit", location.commit}};
  put(json, "subdirectory", location.subdirectory);
  return json;
}

}  // namespace

base::Result<JobData> read_data_flags(const DataFlags& flags) {
  JobData data;
  data.source.reserve(flags.sources.size());
  for (const auto& text : flags.sources) {
    auto item = parse_source(text);
    if (!item) return tl::unexpected<base::Error>(item.error());
    if (find_item(data, item->path) != nullptr) return misfit("--source " + item->path + " is given twice");
    data.source.push_back(*std::move(item));
  }
  data.results.reserve(flags.results.size());
  for (const auto& text : flags.results) {
    auto result = parse_result(text);
    if (!result) return tl::unexpected<base::Error>(result.error());
    data.results.push_back(*std::move(result));
  }
  for (const auto add : {mark_archives, add_secrets, add_server, complete_results}) {
    if (auto added = add(flags, data); !added) return tl::unexpected<base::Error>(added.error());
  }
  if (!flags.source_secrets.empty() && data.source.empty()) return misfit("--source-secret needs --source");
  return data;
}

std::string source_json(const std::vector<api::SourceItem>& items) {
  Json all = Json::array();
  for (const auto& item : items) {
    Json json{{"path", item.path}};
    if (item.http) json["http"] = {{"url", item.http->url}};
    if (item.s3) json["s3"] = json_of(*item.s3);
    if (item.git) json["git"] = json_of(*item.git);
    put(json, "sha256", item.sha256);
    put(json, "secret", item.secret);
    if (item.unpack) json["unpack"] = true;
    all.push_back(std::move(json));
  }
  return Json{{"items", std::move(all)}}.dump();
}

std::string results_json(const std::vector<api::JobResult>& results) {
  Json all = Json::array();
  for (const auto& result : results) {
    Json json{{"from", result.from}};
    if (result.to.s3) json["to"] = {{"s3", json_of(*result.to.s3)}};
    if (result.to.volume) {
      Json volume{{"claimName", result.to.volume->claim_name}};
      put(volume, "path", result.to.volume->path);
      json["to"] = {{"volume", std::move(volume)}};
    }
    put(json, "secret", result.secret);
    if (result.sync_seconds > 0) json["syncSeconds"] = result.sync_seconds;
    all.push_back(std::move(json));
  }
  return all.dump();
}

}  // namespace gpupool::submit
