// SPDX-License-Identifier: Apache-2.0
#include "reader_server/reader_access.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/hmac_sha256.h"
#include "base/rfc3339.h"
#include "kube/config/file_token.h"

namespace gpupool::readers {
namespace {

using nlohmann::json;

constexpr api::ResourceType kNamespaces{"", "v1", "namespaces", "Namespace", false};
constexpr std::size_t kMostRemembered = 4096;

std::string resource_of(const kube::AccessQuestion& right) {
  return right.resource + (right.subresource.empty() ? "" : "/" + right.subresource);
}

std::string memory_key(const std::string& token, const kube::AccessQuestion& right) {
  const auto digest = base::sha256(token);
  return std::string(digest.begin(), digest.end()) + right.verb + " " + right.group + " " +
         resource_of(right) + " " + right.ns + " " + right.name;
}

base::Error forbidden(const kube::AccessQuestion& right, const std::string& what) {
  return {base::ErrorCode::kForbidden,
          "you may not read " + what + (right.ns.empty() ? "" : " in namespace " + right.ns) +
              "; needed is: verb " + right.verb + ", apiGroup " + right.group + ", resource " +
              resource_of(right) + (right.name.empty() ? "" : ", resourceName " + right.name),
          403};
}

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

base::Result<NamespaceInfo> read_namespace(kube::Client& client, const std::string& ns,
                                           const std::stop_token& stop) {
  const auto text = client.get(kNamespaces, {"", ns}, stop);
  if (!text && text.error().code == base::ErrorCode::kNotFound)
    return tl::unexpected<base::Error>({base::ErrorCode::kNotFound, "there is no namespace " + ns, 404});
  if (!text) return tl::unexpected<base::Error>(text.error());
  const json object = json::parse(*text, nullptr, false);
  const auto metadata = object.is_object() ? object.find("metadata") : object.end();
  if (metadata == object.end() || !metadata->is_object())
    return base::fail(base::ErrorCode::kParse, "the answer is no Namespace");
  const auto created = base::parse_rfc3339(text_in(*metadata, "creationTimestamp"));
  NamespaceInfo info{text_in(*metadata, "uid"), created.value_or(base::WallTime{})};
  if (info.uid.empty() || !created)
    return base::fail(base::ErrorCode::kParse, "the Namespace has no uid or time");
  return info;
}

ReaderAccess::ReaderAccess(net::Transport& api, kube::Client& own, std::chrono::seconds remembered,
                           base::Clock& clock, base::Metrics& metrics)
    : api_(api), own_(own), remembered_(remembered), clock_(clock), metrics_(metrics) {}

base::Result<void> ReaderAccess::may_read(const std::string& token, const kube::AccessQuestion& right,
                                          const std::string& what, const std::stop_token& stop) {
  const std::string key = memory_key(token, right);
  {
    const base::MutexLock lock(mutex_);
    const auto now = clock_.now();
    if (allowed_.size() >= kMostRemembered)
      std::erase_if(allowed_, [&](const auto& one) { return one.second <= now; });
    if (const auto found = allowed_.find(key); found != allowed_.end() && found->second > now) return {};
  }
  const auto yes = ask(token, right, stop);
  if (!yes) return tl::unexpected<base::Error>(yes.error());
  if (!*yes) return tl::unexpected<base::Error>(forbidden(right, what));
  const base::MutexLock lock(mutex_);
  if (allowed_.size() < kMostRemembered) allowed_[key] = clock_.now() + remembered_;
  return {};
}

base::Result<bool> ReaderAccess::ask(const std::string& token, const kube::AccessQuestion& right,
                                     const std::stop_token& stop) {
  kube::FixedToken source(token);
  kube::Client client(api_, &source, clock_, metrics_, {.max_tries = 2});
  return kube::may(client, right, stop);
}

base::Result<NamespaceInfo> ReaderAccess::namespace_info(const std::string& ns, const std::stop_token& stop) {
  {
    const base::MutexLock lock(mutex_);
    const auto found = namespaces_.find(ns);
    if (found != namespaces_.end() && found->second.until > clock_.now()) return found->second.info;
  }
  auto info = read_namespace(own_, ns, stop);
  if (!info) return info;
  const base::MutexLock lock(mutex_);
  if (namespaces_.size() >= kMostRemembered) namespaces_.clear();
  namespaces_[ns] = {*info, clock_.now() + remembered_};
  return info;
}

}  // namespace gpupool::readers
