// SPDX-License-Identifier: Apache-2.0
#include "kube/request_path.h"

#include "base/rfc3339.h"

namespace gpupool::kube {
namespace {

// IsValidPathSegmentName of apimachinery; other values could change the meaning of the path.
base::Result<void> check_segment(const char* what, const std::string& value) {
  if (value.empty() || value == "." || value == ".." || value.find_first_of("/%") != std::string::npos) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      std::string(what) + " '" + value + "' cannot be part of a path");
  }
  return {};
}

std::string root_path(const api::ResourceType& type) {
  if (type.group.empty()) return "/api/" + std::string(type.version);
  return "/apis/" + std::string(type.group) + "/" + std::string(type.version);
}

class Query {
 public:
  void add(std::string_view key, const std::string& value) {
    if (value.empty()) return;
    text_ += text_.empty() ? '?' : '&';
    text_ += key;
    text_ += '=';
    text_ += percent_encode(value);
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string percent_encode(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  static constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

base::Result<std::string> collection_path(const api::ResourceType& type, const std::string& ns) {
  std::string path = root_path(type);
  if (!ns.empty()) {
    if (!type.namespaced) {
      return base::fail(base::ErrorCode::kInvalidArgument, std::string(type.kind) + " has no namespaces");
    }
    if (auto ok = check_segment("namespace", ns); !ok) return tl::unexpected<base::Error>(ok.error());
    path += "/namespaces/" + percent_encode(ns);
  }
  return path + "/" + std::string(type.plural);
}

base::Result<std::string> create_path(const api::ResourceType& type, const std::string& ns) {
  if (type.namespaced && ns.empty()) {
    return base::fail(base::ErrorCode::kInvalidArgument, std::string(type.kind) + " needs a namespace");
  }
  return collection_path(type, ns);
}

base::Result<std::string> object_path(const api::ResourceType& type, const api::ObjectKey& key,
                                      const std::string& subresource) {
  auto path = create_path(type, key.ns);
  if (!path) return path;
  if (auto ok = check_segment("name", key.name); !ok) return tl::unexpected<base::Error>(ok.error());
  *path += "/" + percent_encode(key.name);
  if (!subresource.empty()) {
    if (auto ok = check_segment("subresource", subresource); !ok) {
      return tl::unexpected<base::Error>(ok.error());
    }
    *path += "/" + percent_encode(subresource);
  }
  return path;
}

std::string list_query(const ListOptions& options) {
  Query query;
  query.add("labelSelector", options.label_selector);
  query.add("fieldSelector", options.field_selector);
  if (options.limit > 0) query.add("limit", std::to_string(options.limit));
  query.add("continue", options.continue_token);
  // The token contains the version; the server refuses a request with both.
  if (options.continue_token.empty()) query.add("resourceVersion", options.resource_version);
  return query.text();
}

std::string watch_query(const WatchOptions& options) {
  Query query;
  query.add("watch", "true");
  query.add("allowWatchBookmarks", "true");
  query.add("labelSelector", options.label_selector);
  query.add("fieldSelector", options.field_selector);
  query.add("resourceVersion", options.resource_version);
  query.add("timeoutSeconds", std::to_string(options.timeout.count()));
  if (options.as_table) query.add("includeObject", "None");
  return query.text();
}

std::string log_query(const LogOptions& options) {
  Query query;
  query.add("container", options.container);
  if (options.follow) query.add("follow", "true");
  if (options.previous) query.add("previous", "true");
  if (options.timestamps) query.add("timestamps", "true");
  if (options.since) query.add("sinceTime", base::to_rfc3339(*options.since));
  if (options.tail_lines) query.add("tailLines", std::to_string(*options.tail_lines));
  return query.text();
}

}  // namespace gpupool::kube
