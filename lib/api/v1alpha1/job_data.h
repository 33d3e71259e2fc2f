// SPDX-License-Identifier: Apache-2.0
// What a GpuJob brings to its workers and takes from them: GpuJob.spec.source and spec.results. The operator
// mounts what they name; gpupool-carry does the work.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/boxed.h"
#include "base/json.h"
#include "base/word.h"

namespace gpupool::api {

// The directory of all items, in the worker and in gpupool-carry.
inline constexpr char kWorkDirectory[] = "/gpupool/work";

struct HttpLocation {
  std::string url;  // http or https, without user and password
};

// Objects of a bucket. Of a source, either key or prefix is set.
struct S3Location {
  std::string endpoint;  // URL of the server; empty: AWS
  std::string region;    // empty: us-east-1, or what the server says
  std::string bucket;
  std::string key;     // one object
  std::string prefix;  // all objects under it; results: what is put before their names
};

struct GitLocation {
  std::string url;           // http or https
  std::string commit;        // 40 or 64 lower-case hex digits
  std::string subdirectory;  // only this part of the tree; empty: all
};

struct ConfigMapKey {
  std::string name;
  std::string key;
};

namespace csv_type {
inline constexpr char kInteger[] = "Integer";
inline constexpr char kNumber[] = "Number";
inline constexpr char kText[] = "Text";
}  // namespace csv_type

// What is done with a missing value.
namespace csv_missing {
inline constexpr char kKeep[] = "Keep";  // the default
inline constexpr char kDrop[] = "Drop";  // the row is left out
inline constexpr char kMean[] = "Mean";  // Mean and Median: of columns of numbers alone
inline constexpr char kMedian[] = "Median";
inline constexpr char kMode[] = "Mode";  // the most frequent value; the smallest of several
}  // namespace csv_missing

struct CsvMissing {
  std::string default_rule;                      // of csv_missing; empty: Keep
  std::map<std::string, std::string> columns;    // column: one of csv_missing
  std::map<std::string, std::string> constants;  // column: the value
};

// Bounds of the values of a column: numbers as texts, each may be empty. Quantiles are between 0 and 1.
struct CsvBounds {
  std::string min;
  std::string max;
  std::string lower_quantile;
  std::string upper_quantile;
};

struct CsvClip {
  base::Boxed<CsvBounds> default_bounds;  // of all columns of numbers
  std::map<std::string, CsvBounds> columns;
};

// A CSV file that is made from another item.
struct CsvIngestion {
  std::string from;                          // path of an item, or of a file in one
  std::string delimiter;                     // one of , ; | and tab; empty: found in the file
  std::map<std::string, std::string> types;  // column: one of csv_type; others are found
  CsvMissing missing;
  CsvClip clip;
};

// Exactly one of http, s3, git, config_map and csv is set.
struct SourceItem {
  std::string path;  // below kWorkDirectory
  base::Boxed<HttpLocation> http;
  base::Boxed<S3Location> s3;
  base::Boxed<GitLocation> git;
  base::Boxed<ConfigMapKey> config_map;
  base::Boxed<CsvIngestion> csv;
  std::string sha256;      // of the one file that http, s3.key or configMap names; empty: not checked
  std::string secret;      // a Secret in the job's namespace with credentials
  bool unpack = false;     // the file is an archive, and `path` the directory of its content
  bool read_only = false;  // the worker cannot write it; always so with csv
};

struct JobSource {
  std::string size_limit;  // a quantity, of all items together; empty: kDefaultSourceSize
  std::int64_t timeout_seconds = 3600;
  std::vector<SourceItem> items;
};
inline constexpr char kDefaultSourceSize[] = "10Gi";

// A PersistentVolumeClaim of the job's namespace.
struct VolumeLocation {
  std::string claim_name;
  std::string path;  // a directory in it; empty: its root
};

// Exactly one is set.
struct ResultTarget {
  base::Boxed<S3Location> s3;
  base::Boxed<VolumeLocation> volume;
};

namespace results_when {
inline constexpr char kAlways[] = "Always";  // the default
inline constexpr char kOnSuccess[] = "OnSuccess";
}  // namespace results_when

// In to.s3.prefix and to.volume.path, $(job), $(namespace), $(attempt) and $(rank) stand for their values.
struct JobResult {
  std::string from;  // a directory or file below kWorkDirectory, as an absolute path
  ResultTarget to;
  std::string secret;
  base::Word when = results_when::kAlways;
  std::vector<std::int64_t> ranks;     // empty: rank 0
  std::int64_t timeout_seconds = 300;  // from the end of the command
  std::int64_t sync_seconds = 0;       // also while the command runs, so often; 0: not
};

}  // namespace gpupool::api

namespace gpupool::base::json {

template <>
struct Schema<api::HttpLocation> {
  using T = api::HttpLocation;
  static constexpr auto fields = std::array{field<&T::url>("url")};
};
template <>
struct Schema<api::S3Location> {
  using T = api::S3Location;
  static constexpr auto fields =
      std::array{field<&T::endpoint>("endpoint"), field<&T::region>("region"), field<&T::bucket>("bucket"),
                 field<&T::key>("key"), field<&T::prefix>("prefix")};
};
template <>
struct Schema<api::GitLocation> {
  using T = api::GitLocation;
  static constexpr auto fields =
      std::array{field<&T::url>("url"), field<&T::commit>("commit"), field<&T::subdirectory>("subdirectory")};
};
template <>
struct Schema<api::ConfigMapKey> {
  using T = api::ConfigMapKey;
  static constexpr auto fields = std::array{field<&T::name>("name"), field<&T::key>("key")};
};
template <>
struct Schema<api::CsvMissing> {
  using T = api::CsvMissing;
  static constexpr auto fields = std::array{field<&T::default_rule>("default"), field<&T::columns>("columns"),
                                            field<&T::constants>("constants")};
};
template <>
struct Schema<api::CsvBounds> {
  using T = api::CsvBounds;
  static constexpr auto fields =
      std::array{field<&T::min>("min"), field<&T::max>("max"), field<&T::lower_quantile>("lowerQuantile"),
                 field<&T::upper_quantile>("upperQuantile")};
};
template <>
struct Schema<api::CsvClip> {
  using T = api::CsvClip;
  static constexpr auto fields =
      std::array{field<&T::default_bounds>("default"), field<&T::columns>("columns")};
};
template <>
struct Schema<api::CsvIngestion> {
  using T = api::CsvIngestion;
  static constexpr auto fields =
      std::array{field<&T::from>("from"), field<&T::delimiter>("delimiter"), field<&T::types>("types"),
                 field<&T::missing>("missing"), field<&T::clip>("clip")};
};
template <>
struct Schema<api::SourceItem> {
  using T = api::SourceItem;
  static constexpr auto fields = std::array{field<&T::path>("path"),
                                            field<&T::http>("http"),
                                            field<&T::s3>("s3"),
                                            field<&T::git>("git"),
                                            field<&T::config_map>("configMap"),
                                            field<&T::csv>("csv"),
                                            field<&T::sha256>("sha256"),
                                            field<&T::secret>("secret"),
                                            field<&T::unpack>("unpack"),
                                            field<&T::read_only>("readOnly")};
};
template <>
struct Schema<api::JobSource> {
  using T = api::JobSource;
  static constexpr auto fields =
      std::array{field<&T::size_limit>("sizeLimit"), field<&T::timeout_seconds>("timeoutSeconds"),
                 field<&T::items>("items")};
};
template <>
struct Schema<api::VolumeLocation> {
  using T = api::VolumeLocation;
  static constexpr auto fields = std::array{field<&T::claim_name>("claimName"), field<&T::path>("path")};
};
template <>
struct Schema<api::ResultTarget> {
  using T = api::ResultTarget;
  static constexpr auto fields = std::array{field<&T::s3>("s3"), field<&T::volume>("volume")};
};
template <>
struct Schema<api::JobResult> {
  using T = api::JobResult;
  static constexpr auto fields = std::array{field<&T::from>("from"),
                                            field<&T::to>("to"),
                                            field<&T::secret>("secret"),
                                            field<&T::when>("when"),
                                            field<&T::ranks>("ranks"),
                                            field<&T::timeout_seconds>("timeoutSeconds"),
                                            field<&T::sync_seconds>("syncSeconds")};
};

}  // namespace gpupool::base::json
