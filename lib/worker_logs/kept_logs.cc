// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/kept_logs.h"

#include <utility>

#include "kube/request_path.h"

namespace gpupool::logs {
namespace {

constexpr std::chrono::hours kLongestRead{24};

std::string path_of_namespace(const std::string& ns) { return "/v1/namespaces/" + kube::percent_encode(ns); }

std::string path_of(const std::string& ns, const KeptAttempt& attempt, const std::string& rank) {
  return path_of_namespace(ns) + "/jobs/" + kube::percent_encode(attempt.uid) + "/leases/" +
         std::to_string(attempt.lease) + "/ranks/" + rank + "/log";
}

}  // namespace

base::Result<std::vector<KeptAttempt>> KeptLogs::attempts(const std::string& ns, const std::string& job,
                                                          const std::string& uid,
                                                          const std::stop_token& stop) const {
  std::string path = prefix_ + path_of_namespace(ns) + "/attempts?";
  if (!job.empty()) path += "job=" + kube::percent_encode(job) + "&";
  if (!uid.empty()) path += "uid=" + kube::percent_encode(uid);
  const auto text = client_.get_path(path, stop);
  if (!text) return tl::unexpected<base::Error>(text.error());
  auto read = base::json::read<KeptAttempts>(*text);
  if (!read) return base::in_context(read.error(), "the keeper's answer");
  return std::move(read->attempts);
}

FetchLog KeptLogs::fetch(const std::string& ns, const KeptAttempt& attempt) const {
  return [this, ns, attempt](const api::ObjectKey& pod, const kube::LogOptions& options,
                             const std::function<bool(std::string_view)>& on_piece,
                             std::stop_token stop) -> base::Result<void> {
    bool more = true;
    const auto read = client_.stream_path(
        prefix_ + path_of(ns, attempt, pod.name) + kube::log_query(options), kLongestRead,
        [&](std::string_view piece) -> base::Result<void> {
          more = on_piece(piece);
          if (more) return {};
          return base::fail(base::ErrorCode::kCancelled, "no more is wanted");
        },
        std::move(stop));
    if (!more) return {};
    return read;
  };
}

}  // namespace gpupool::logs
