// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta/object_meta.h"
#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kube/token_source.h"
#include "net/transport.h"

namespace gpupool::kube {

struct ListOptions {
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};  // "": quorum read; "0": from the server's cache
  std::int64_t limit = 0;             // 0: everything in one page
  std::string continue_token = {};
};

struct WatchOptions {
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};
  std::chrono::seconds timeout{300};  // the server ends the watch after this
  bool as_table = false;              // objects come as a Table of one row, as of list_table
};

struct LogOptions {
  std::string container = {};
  bool follow = false;    // the server sends what is printed later too, until the container ends
  bool previous = false;  // of the container that ran before its last restart
  bool timestamps = false;
  std::optional<base::WallTime> since =
      std::nullopt;  // the server takes whole seconds; a fraction is dropped
  std::optional<std::int64_t> tail_lines = std::nullopt;
  // A log that brings no byte for this long ends with kTimeout.
  std::chrono::milliseconds silence{60'000};
};

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::string uid = {};               // precondition; empty: none
  std::string resource_version = {};  // precondition; empty: none
  Propagation propagation = Propagation::kBackground;
  std::optional<std::int64_t> grace_period_seconds = std::nullopt;
};

enum class PatchType { kJson, kMerge };

struct ClientOptions {
  std::string impersonate_user = {};
  std::vector<std::string> impersonate_groups = {};
  int max_tries = 5;  // for reads, and for writes that the server certainly did not carry out (429, 503
                      // with Retry-After)
  double qps = 0;     // requests per second, without watches; 0: no limit here, the server's Priority and
                      // Fairness decides
  double burst = 1;
};

// The Kubernetes REST API. Bodies are JSON text; answers are the server's text. Its only state is the rate
// limit. Thread-safe: each call blocks the caller's thread until the answer or a stop request. Errors are
// typed from the Status body. Their message names verb, kind and object; that of a Forbidden error ends with
// the missing RBAC rule. A write is never repeated after a transport error, because the server may have
// carried it out.
class Client {
 public:
  // tokens: null if client certificates identify this program. REQUIRES: everything referenced outlives the
  // client.
  Client(net::Transport& transport, TokenSource* tokens, base::Clock& clock, base::Metrics& metrics,
         ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  base::Result<std::string> get(const api::ResourceType& type, const api::ObjectKey& key,
                                std::stop_token stop);
  // One page, as one text; options.continue_token selects the next. ns empty: all namespaces.
  base::Result<std::string> list(const api::ResourceType& type, const std::string& ns,
                                 const ListOptions& options, std::stop_token stop);
  // Lists without pages and calls on_item for each object as it arrives; the text is valid during the call.
  // Tries once. Returns the resourceVersion of the list. After an error on_item may have got any part of the
  // list.
  base::Result<std::string> list_items(const api::ResourceType& type, const std::string& ns,
                                       const ListOptions& options,
                                       const std::function<void(std::string_view)>& on_item,
                                       std::stop_token stop);
  // The same list as a Table: only what the printer columns of the kind show, in a twentieth of the bytes.
  // Calls on_row with each row, as {"cells": [...]}. Returns the Table without its rows, as JSON; its
  // columnDefinitions name the cells.
  base::Result<std::string> list_table(const api::ResourceType& type, const std::string& ns,
                                       const ListOptions& options,
                                       const std::function<void(std::string_view)>& on_row,
                                       std::stop_token stop);
  base::Result<std::string> create(const api::ResourceType& type, const std::string& ns,
                                   const std::string& body, std::stop_token stop);
  // Returns what create would answer, without creating anything (dryRun=All).
  base::Result<std::string> try_create(const api::ResourceType& type, const std::string& ns,
                                       const std::string& body, std::stop_token stop);
  // Returns the object as it is now if its deletion takes time; else the server's answer: a Status or the
  // object.
  base::Result<std::string> remove(const api::ResourceType& type, const api::ObjectKey& key,
                                   const DeleteOptions& options, std::stop_token stop);
  // Replaces the object, or its subresource "status"; the body names the resourceVersion that it is based on.
  base::Result<std::string> update(const api::ResourceType& type, const api::ObjectKey& key,
                                   const std::string& body, const std::string& subresource,
                                   std::stop_token stop);
  // subresource: "" or "status".
  base::Result<std::string> patch(const api::ResourceType& type, const api::ObjectKey& key,
                                  PatchType patch_type, const std::string& body,
                                  const std::string& subresource, std::stop_token stop);
  // Calls on_line with each complete line (one event). Returns success when the server ends the watch or
  // on_line returns false. A non-2xx answer is a typed error.
  base::Result<void> watch(const api::ResourceType& type, const std::string& ns, const WatchOptions& options,
                           const std::function<bool(std::string_view)>& on_line, std::stop_token stop);
  // Calls on_piece with the bytes of a container's log as they arrive. Tries once. Returns success when the
  // server ends the log or on_piece returns false. The server also ends it when it loses its connection to
  // the node, so an end says nothing about the container.
  base::Result<void> pod_log(const api::ObjectKey& pod, const LogOptions& options,
                             const std::function<bool(std::string_view)>& on_piece, std::stop_token stop);
  // GET of a path that is no resource, such as /version or /readyz.
  base::Result<std::string> get_path(const std::string& path, std::stop_token stop);
  // GET of such a path whose answer is long: calls on_piece with each piece of the body as it arrives, until
  // it returns an error. Tries once, for at most `timeout`.
  base::Result<void> stream_path(const std::string& path, std::chrono::milliseconds timeout,
                                 const std::function<base::Result<void>(std::string_view)>& on_piece,
                                 std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Typed reads. K::kType is the ResourceType of K.
template <class K>
base::Result<K> decode(const base::Result<std::string>& answer) {
  if (!answer) return tl::unexpected<base::Error>(answer.error());
  return base::json::read<K>(*answer);
}

template <class K>
base::Result<K> get(Client& client, const api::ObjectKey& key, std::stop_token stop) {
  return decode<K>(client.get(K::kType, key, stop));
}

// Reads all pages.
template <class K>
base::Result<std::vector<K>> list(Client& client, const std::string& ns, ListOptions options,
                                  std::stop_token stop) {
  std::vector<K> all;
  while (true) {
    auto page = decode<api::List<K>>(client.list(K::kType, ns, options, stop));
    if (!page) return tl::unexpected<base::Error>(page.error());
    if (page->metadata.resource_version.empty()) {
      return base::fail(base::ErrorCode::kParse,
                        "a list of " + std::string(K::kType.kind) + " without a resourceVersion");
    }
    for (auto& item : page->items) all.push_back(std::move(item));
    if (page->metadata.continue_token.empty()) return all;
    options.continue_token = page->metadata.continue_token;
  }
}

}  // namespace gpupool::kube
