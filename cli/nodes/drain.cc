// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_job.h"
#include "command/deadline.h"
#include "command/duration.h"
#include "jobs/follow.h"
#include "nodes/commands.h"
#include "objects/job.h"
#include "screen/plain_text.h"

namespace gpupool::nodes {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kReason[] = "gpupool.dev/drain-reason";

bool holds(const api::GpuJob& job, const std::string& node) {
  if (!job.status.lease) return false;
  const auto& nodes = job.status.lease->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](const api::NodeRef& one) { return one.name == node; });
}

base::Result<std::vector<api::GpuJob>> jobs_on(command::Session& session, const std::string& node,
                                               const std::stop_token& stop) {
  std::vector<api::GpuJob> jobs;
  base::Result<void> good;
  const auto listed = session.client().list_items(
      api::GpuJob::kType, "", {.resource_version = "0"},
      [&](std::string_view item) {
        auto job = base::json::read<api::GpuJob>(item);
        if (!job) {
          good = tl::unexpected<base::Error>(job.error());
        } else if (holds(*job, node)) {
          jobs.push_back(std::move(*job));
        }
      },
      stop);
  if (!listed) return tl::unexpected<base::Error>(listed.error());
  if (!good) return tl::unexpected<base::Error>(good.error());
  return jobs;
}

base::Result<api::Node> patch(command::Session& session, const std::string& node, const Json& body,
                              const std::stop_token& stop) {
  return kube::decode<api::Node>(
      session.client().patch(api::Node::kType, {"", node}, kube::PatchType::kMerge, body.dump(), "", stop));
}

class Drain final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "drain",
        .summary = "Take a node out of service without stopping a job",
        .text =
            "Cordons the node, so that no job gets it any more, lists the jobs that hold it, and waits until "
            "the last of\n"
            "them has ended or left. No job is stopped. For owners of nodes. Ends with 124 if --timeout is "
            "over first.",
        .example =
            "  kubectl gpupool drain gpu-7 --reason 'new power supply' --timeout 12h && systemctl poweroff"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("NODE", node_, "Name of the node", command::Offer::kNodes);
    flags.text("--reason", reason_, "TEXT", "Why; kept in an annotation of the node");
    flags.duration("--timeout", timeout_, "Longest time to wait; default: without end");
    flags.yes("--no-wait", no_wait_, "Only cordon the node and list its jobs");
  }

  base::Result<int> run(command::Context& context) override {
    const auto opened = context.session();
    if (!opened) return tl::unexpected<base::Error>(opened.error());
    command::Session& session = **opened;
    Json body{{"spec", {{"unschedulable", true}}}};
    if (!reason_.empty()) body["metadata"]["annotations"][kReason] = reason_;
    if (const auto node = patch(session, node_, body, context.stop); !node)
      return tl::unexpected<base::Error>(node.error());
    context.out << "node/" << node_ << " cordoned" << std::endl;
    const command::Deadline deadline(timeout_, context.clock, context.stop);
    while (true) {
      const auto jobs = jobs_on(session, node_, deadline.token());
      if (deadline.expired()) return out_of_time(context);
      if (!jobs) return tl::unexpected<base::Error>(jobs.error());
      if (jobs->empty()) {
        context.out << "node/" << node_ << " is free" << std::endl;
        return command::exit_code::kGood;
      }
      for (const auto& job : *jobs) {
        context.out << screen::plain_text(job.metadata.ns + "/" + job.metadata.name)
                    << " holds it: " << objects::short_state(job) << std::endl;
      }
      if (no_wait_) return command::exit_code::kGood;
      const auto left = wait_for(session, jobs->front(), deadline.token(), context);
      if (deadline.expired()) return out_of_time(context);
      if (!left) return tl::unexpected<base::Error>(left.error());
    }
  }

 private:
  int out_of_time(command::Context& context) const {
    context.err << "error: timed out: jobs still hold node " << node_ << "; it stays cordoned\n";
    return command::exit_code::kDeadline;
  }

  // Until the job does not hold the node any more. Follows it in its own namespace.
  base::Result<void> wait_for(command::Session& session, const api::GpuJob& job, const std::stop_token& stop,
                              command::Context& context) const {
    const auto followed = jobs::follow_job(
        session, job.metadata.key(), job.metadata.uid,
        [&](const api::GpuJob& now) { return holds(now, node_); },
        [&](const std::string& why) {
          if (!why.empty())
            context.err << "the API server cannot be reached, trying on: " << screen::plain_text(why)
                        << std::endl;
        },
        stop);
    if (!followed && followed.error().code != base::ErrorCode::kNotFound) return followed;
    return {};
  }

  std::string node_;
  std::string reason_;
  std::optional<std::chrono::milliseconds> timeout_;
  bool no_wait_ = false;
};

class Undrain final : public command::Command {
 public:
  Manual manual() const override {
    return {.name = "undrain",
            .summary = "Put a node into service again",
            .example = "  kubectl gpupool undrain gpu-7"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("NODE", node_, "Name of the node", command::Offer::kNodes);
  }

  base::Result<int> run(command::Context& context) override {
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    const Json body{{"spec", {{"unschedulable", nullptr}}},
                    {"metadata", {{"annotations", {{kReason, nullptr}}}}}};
    const auto node = patch(**session, node_, body, context.stop);
    if (!node) return tl::unexpected<base::Error>(node.error());
    context.out << "node/" << node_ << " uncordoned\n";
    return command::exit_code::kGood;
  }

 private:
  std::string node_;
};

}  // namespace

std::unique_ptr<command::Command> make_drain() { return std::make_unique<Drain>(); }
std::unique_ptr<command::Command> make_undrain() { return std::make_unique<Undrain>(); }

}  // namespace gpupool::nodes
