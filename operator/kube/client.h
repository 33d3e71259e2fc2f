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
  std::string resource_version = {};  // "": quorum read; "0": whatever the server has cached
  std::int64_t limit = 0;             // 0: everything in one page
  std::string continue_token = {};
};

struct WatchOptions {
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};
  std::chrono::seconds timeout{300};  // after which the server ends the watch
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
  int max_tries = 5;  // for reads, and for writes that the server refused before doing anything (429, 503
                      // with Retry-After)
  double qps = 0;     // requests a second, watches excepted; 0: no limit of ours, the server's Priority and
                      // Fairness decides
  double burst = 1;
};

// The Kubernetes REST API on bytes: stateless but for its rate limit, thread-safe. Bodies are JSON text; what
// comes back is the server's object as text. Errors are typed from the Status body; the message names verb,
// kind and object, and a Forbidden error ends with the RBAC rule that is missing. A write is never sent again
// after a transport error, because it may have happened.
class Client {
 public:
  // Everything referenced must outlive the client. tokens may be null (client certificates).
  Client(net::Transport& transport, TokenSource* tokens, base::Clock& clock, base::Metrics& metrics,
         ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  base::Result<std::string> get(const api::ResourceType& type, const api::ObjectKey& key,
                                std::stop_token stop);
  // ns empty: all namespaces. One page, as one text; ask for the next with continue_token.
  base::Result<std::string> list(const api::ResourceType& type, const std::string& ns,
                                 const ListOptions& options, std::stop_token stop);
  // The same without pages, object by object while they arrive; on_item's text lives as long as the call. One
  // try. Returns the list's resourceVersion; after an error what came may be any part of the list.
  base::Result<std::string> list_items(const api::ResourceType& type, const std::string& ns,
                                       const ListOptions& options,
                                       const std::function<void(std::string_view)>& on_item,
                                       std::stop_token stop);
  base::Result<std::string> create(const api::ResourceType& type, const std::string& ns,
                                   const std::string& body, std::stop_token stop);
  // What create would answer, without doing it (dryRun=All).
  base::Result<std::string> try_create(const api::ResourceType& type, const std::string& ns,
                                       const std::string& body, std::stop_token stop);
  base::Result<void> remove(const api::ResourceType& type, const api::ObjectKey& key,
                            const DeleteOptions& options, std::stop_token stop);
  // subresource: "" or "status".
  base::Result<std::string> patch(const api::ResourceType& type, const api::ObjectKey& key,
                                  PatchType patch_type, const std::string& body,
                                  const std::string& subresource, std::stop_token stop);
  // Calls on_line with each complete line (a watch event) until the server ends the watch, on_line returns
  // false (both: success) or an error. Non-2xx answers are typed errors.
  base::Result<void> watch(const api::ResourceType& type, const std::string& ns, const WatchOptions& options,
                           const std::function<bool(std::string_view)>& on_line, std::stop_token stop);
  // GET of a non-resource path such as /version or /readyz.
  base::Result<std::string> get_path(const std::string& path, std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Typed reads: K names its ResourceType as K::kType.
template <class K>
base::Result<K> decode(const base::Result<std::string>& answer) {
  if (!answer) return tl::unexpected<base::Error>(answer.error());
  return base::json::read<K>(*answer);
}

template <class K>
base::Result<K> get(Client& client, const api::ObjectKey& key, std::stop_token stop) {
  return decode<K>(client.get(K::kType, key, stop));
}

// All pages.
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
