// SPDX-License-Identifier: Apache-2.0
#include "sweeps/read_sweep.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/v1alpha1/names.h"
#include "kube/client.h"
#include "planning/sweep/sweep_validation.h"

namespace gpupool::sweeps {
namespace {

constexpr std::array<std::string_view, 6> kKinds{
    "gsweep", "gsweeps", "gpusweep", "gpusweeps", "gpusweep.gpupool.dev", "gpusweeps.gpupool.dev"};

bool is_name(std::string_view name) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= planning::kMaxSweepName && std::ranges::all_of(name, good);
}

}  // namespace

base::Result<std::string> sweep_name(std::string_view word) {
  const std::string whole(word);
  if (const auto slash = word.find('/'); slash != std::string_view::npos) {
    if (std::ranges::find(kKinds, word.substr(0, slash)) == kKinds.end()) {
      return base::fail(base::ErrorCode::kInvalidArgument,
                        "\"" + whole + "\" is no GpuSweep: give its name, or gpusweep/NAME");
    }
    word.remove_prefix(slash + 1);
  }
  if (is_name(word)) return std::string(word);
  return base::fail(base::ErrorCode::kInvalidArgument,
                    "\"" + whole + "\" cannot be the name of a sweep: at most " +
                        std::to_string(planning::kMaxSweepName) + " small letters, digits and dashes");
}

base::Result<ReadSweep> read_sweep(command::Session& session, std::string_view word,
                                   const std::stop_token& stop) {
  const auto name = sweep_name(word);
  if (!name) return tl::unexpected<base::Error>(name.error());
  auto sweep = kube::get<api::GpuSweep>(session.client(), {session.ns(), *name}, stop);
  if (!sweep) return tl::unexpected<base::Error>(sweep.error());
  ReadSweep read{std::move(*sweep), {}};
  auto jobs = kube::list<api::GpuJob>(
      session.client(), session.ns(),
      {.label_selector = std::string(api::kSweepLabel) + "=" + *name, .resource_version = "0"}, stop);
  if (jobs) {
    read.jobs = std::move(*jobs);
  } else if (jobs.error().code == base::ErrorCode::kForbidden) {
    read.may_list_jobs = false;
  } else {
    return tl::unexpected<base::Error>(jobs.error());
  }
  return read;
}

}  // namespace gpupool::sweeps
