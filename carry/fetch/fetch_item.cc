// SPDX-License-Identifier: Apache-2.0
#include "fetch/fetch_item.h"

#include <unistd.h>

#include "archive/unpack.h"
#include "csv/ingest_csv.h"
#include "csv/short_report.h"
#include "files/directories.h"
#include "files/relative_path.h"
#include "files/remove_tree.h"

namespace gpupool::carry {
namespace {

using Fetched = Outcome<api::TransferredItem>;

Fetched make_csv_item(const api::SourceItem& item, const ItemPlace& place, const std::stop_token& stop) {
  auto report = ingest_csv(place.root, item.csv->from, item.path, *item.csv, *place.budget, stop);
  if (!report) return tl::unexpected(report.error());
  api::TransferredItem made;
  made.files = 1;
  made.bytes = report->data.bytes;
  made.digest = "sha256:" + report->data.sha256;
  made.message = short_report(*report);
  return made;
}

Fetched fetch_by_kind(const api::SourceItem& item, const ItemPlace& place, const std::stop_token& stop) {
  if (item.http) return fetch_http_item(item, place, stop);
  if (item.s3) return fetch_s3_item(item, place, stop);
  if (item.git) return fetch_git_item(item, place, stop);
  if (item.config_map) return fetch_config_map_item(item, place, stop);
  if (item.csv) return make_csv_item(item, place, stop);
  return failed(FailureKind::kInvalid, "has none of http, s3, git, configMap and csv");
}

// The archive lies beside its content until it is unpacked.
Fetched fetch_and_unpack(api::SourceItem item, const ItemPlace& place, const std::stop_token& stop) {
  const auto to = item.path;
  item.path = ".gpupool-archive-" + std::to_string(place.index);
  item.unpack = false;
  const auto archive = fetch_by_kind(item, place, stop);
  if (!archive) return archive;
  auto unpacked = unpack(place.root, item.path, to, *place.budget, stop);
  if (!unpacked) return tl::unexpected(unpacked.error());
  ::unlinkat(place.root, item.path.c_str(), 0);
  place.budget->give_back(archive->bytes);
  api::TransferredItem all;
  all.files = unpacked->files;
  all.bytes = unpacked->bytes;
  all.digest = unpacked->digest;
  return all;
}

}  // namespace

Fetched fetch_item(const api::SourceItem& item, const ItemPlace& place, const std::stop_token& stop) {
  auto fetched = item.unpack ? fetch_and_unpack(item, place, stop) : fetch_by_kind(item, place, stop);
  if (!fetched) return failed(fetched.error().kind, item.path + ": " + fetched.error().message);
  fetched->path = item.path;
  return fetched;
}

}  // namespace gpupool::carry
