// SPDX-License-Identifier: Apache-2.0
#include "objects/job.h"

#include <algorithm>
#include <array>
#include <utility>

#include "screen/plain_text.h"

namespace gpupool::objects {
namespace {

constexpr std::array<std::string_view, 6> kKinds{
    "gjob", "gjobs", "gpujob", "gpujobs", "gpujob.gpupool.dev", "gpujobs.gpupool.dev"};
constexpr std::size_t kLongestName = 45;

bool is_name(std::string_view name) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), good) &&
         name.front() != '-' && name.back() != '-';
}

}  // namespace

base::Result<std::string> job_name(std::string_view word) {
  const std::string_view whole = word;
  if (const auto slash = word.find('/'); slash != std::string_view::npos) {
    if (std::find(kKinds.begin(), kKinds.end(), word.substr(0, slash)) == kKinds.end()) {
      return base::fail(base::ErrorCode::kInvalidArgument,
                        "\"" + std::string(whole) + "\" is no GpuJob: give its name, or gpujob/NAME");
    }
    word.remove_prefix(slash + 1);
  }
  if (is_name(word)) return std::string(word);
  return base::fail(base::ErrorCode::kInvalidArgument,
                    "\"" + std::string(whole) +
                        "\" cannot be the name of a job: at most 45 small letters, digits and "
                        "dashes, with a letter or digit at both ends");
}

base::Result<ReadJob> read_job(command::Session& session, std::string_view word,
                               const std::stop_token& stop) {
  const auto name = job_name(word);
  if (!name) return tl::unexpected<base::Error>(name.error());
  auto text = session.client().get(api::GpuJob::kType, {session.ns(), *name}, stop);
  auto job = kube::decode<api::GpuJob>(text);
  if (!job) return tl::unexpected<base::Error>(job.error());
  return ReadJob{std::move(*job), std::move(*text)};
}

std::string short_state(const api::GpuJob& job) {
  std::string text = job.status.phase.empty() ? "new" : screen::plain_text(job.status.phase.string());
  if (job.status.lease) {
    const std::size_t nodes = job.status.lease->nodes.size();
    text += " on " + std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
  }
  return text;
}

}  // namespace gpupool::objects
