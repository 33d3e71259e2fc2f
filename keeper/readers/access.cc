// SPDX-License-Identifier: Apache-2.0
#include "readers/access.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/hmac_sha256.h"
#include "base/rfc3339.h"
#include "kube/access_review.h"
#include "kube/config/file_token.h"

namespace gpupool::keeper {
namespace {

using nlohmann::json;

constexpr api::ResourceType kNamespaces{"", "v1", "namespaces", "Namespace", false};
constexpr std::size_t kMostRemembered = 4096;
constexpr std::chrono::seconds kBetweenTries{2};

std::string memory_key(const std::string& token, const std::string& ns) {
  const auto digest = base::sha256(token);
  return std::string(digest.begin(), digest.end()) + ns;
}

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

base::Result<NamespaceInfo> read_namespace(kube::Client& own, const std::string& ns,
                                           const std::stop_token& stop) {
  const auto text = own.get(kNamespaces, {"", ns}, stop);
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

}  // namespace

bool began_in(const NamespaceInfo& ns, const AttemptInfo& attempt) {
  if (!attempt.namespace_uid.empty()) return ns.uid == attempt.namespace_uid;
  return ns.created < attempt.begin;
}

Access::Access(net::Transport& api, kube::Client& own, std::chrono::seconds remembered, base::Clock& clock,
               base::Metrics& metrics)
    : api_(api), own_(own), remembered_(remembered), clock_(clock), metrics_(metrics) {}

base::Result<void> Access::may_read(const std::string& token, const std::string& ns,
                                    const std::stop_token& stop) {
  const std::string key = memory_key(token, ns);
  {
    const base::MutexLock lock(mutex_);
    const auto now = clock_.now();
    if (allowed_.size() >= kMostRemembered)
      std::erase_if(allowed_, [&](const auto& one) { return one.second <= now; });
    if (const auto found = allowed_.find(key); found != allowed_.end() && found->second > now) return {};
  }
  const auto yes = ask(token, ns, stop);
  if (!yes) return tl::unexpected<base::Error>(yes.error());
  if (!*yes) {
    base::Error error{base::ErrorCode::kForbidden,
                      "you may not read logs in namespace " + ns +
                          "; needed is: verb get, apiGroup gpupool.dev, resource gpujobs/log"};
    error.http_status = 403;
    return tl::unexpected<base::Error>(std::move(error));
  }
  const base::MutexLock lock(mutex_);
  if (allowed_.size() < kMostRemembered) allowed_[key] = clock_.now() + remembered_;
  return {};
}

base::Result<bool> Access::ask(const std::string& token, const std::string& ns, const std::stop_token& stop) {
  kube::FixedToken source(token);
  kube::Client client(api_, &source, clock_, metrics_, {.max_tries = 2});
  return kube::may(
      client, {.verb = "get", .group = "gpupool.dev", .resource = "gpujobs", .subresource = "log", .ns = ns},
      stop);
}

base::Result<NamespaceInfo> Access::namespace_info(const std::string& ns, const std::stop_token& stop) {
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

NamespaceMarks::NamespaceMarks(kube::Client& own, Attempts& attempts, base::Clock& clock,
                               const base::Log& log)
    : own_(own), attempts_(attempts), clock_(clock), log_(log), thread_([this](const std::stop_token& stop) {
        run(stop);
      }) {}

void NamespaceMarks::mark(const AttemptId& id) {
  const base::MutexLock lock(mutex_);
  if (waiting_.size() >= kMostRemembered) return;  // the times decide then
  waiting_.insert(id);
  changed_.notify_all();
}

void NamespaceMarks::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::set<AttemptId> ids;
    {
      base::MutexLock lock(mutex_);
      clock_.wait(lock.native(), changed_, stop, std::nullopt,
                  [this]() GPUPOOL_REQUIRES(mutex_) { return !waiting_.empty(); });
      ids = waiting_;
    }
    bool failed = false;
    for (const AttemptId& id : ids) {
      if (stop.stop_requested()) return;
      const auto info = read_namespace(own_, id.ns, stop);
      failed = !info && info.error().code != base::ErrorCode::kNotFound;
      if (failed) {
        log_.warning("a namespace cannot be read", {{"namespace", id.ns}, {"error", info.error().message}});
        break;
      }
      if (info) {
        if (const auto noted = attempts_.set_namespace_uid(id, info->uid); !noted)
          log_.warning("the UID of a namespace cannot be stored", {{"error", noted.error().message}});
      }
      const base::MutexLock lock(mutex_);
      waiting_.erase(id);
    }
    if (failed) clock_.sleep_for(kBetweenTries, stop);
  }
}

}  // namespace gpupool::keeper
