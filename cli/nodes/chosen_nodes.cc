// SPDX-License-Identifier: Apache-2.0
#include "nodes/chosen_nodes.h"

#include <memory>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/names.h"
#include "planning/nodes/membership.h"

namespace gpupool::nodes {
namespace {

using base::ErrorCode;
using Found = base::Result<std::optional<Chosen>>;  // nothing: there is none of this name

// Nothing for NotFound, and for a name that no object of the kind can have.
Found absent_or(const base::Error& error) {
  if (error.code == ErrorCode::kNotFound) return std::nullopt;
  return tl::unexpected<base::Error>(error);
}

Found members_of(command::Session& session, const std::string& name, const std::stop_token& stop) {
  const auto pool = kube::get<api::GpuPool>(session.client(), {"", name}, stop);
  if (!pool) return absent_or(pool.error());
  const auto pools = kube::list<api::GpuPool>(session.client(), "", {.resource_version = "0"}, stop);
  if (!pools) return tl::unexpected<base::Error>(pools.error());
  std::vector<std::shared_ptr<const api::GpuPool>> shared;
  for (const auto& one : *pools) shared.push_back(std::make_shared<const api::GpuPool>(one));
  const planning::Membership membership(shared);
  Chosen chosen{.title = "pool " + name, .names = std::set<std::string>()};
  const auto listed = session.client().list_items(
      api::Node::kType, "", {.resource_version = "0"},
      [&](std::string_view item) {
        const auto node = base::json::read<api::Node>(item);
        if (!node) return;
        const auto of = membership.of(*node);
        if (of.pool && of.pool->metadata.name == name) chosen.names->insert(node->metadata.name);
      },
      stop);
  if (listed) return chosen;
  if (listed.error().code != ErrorCode::kForbidden) return tl::unexpected<base::Error>(listed.error());
  base::Error error = listed.error();
  error.message = "you may not list nodes, and only they tell which belong to pool " + name +
                  "; kubectl gpupool top shows all. " + error.message;
  return tl::unexpected<base::Error>(error);
}

Found one_node(command::Session& session, const std::string& name, const std::stop_token& stop) {
  const auto node = session.client().get(api::GpuNode::kType, {"", name}, stop);
  if (!node) return absent_or(node.error());
  return Chosen{.title = "node " + name, .names = std::set<std::string>{name}};
}

Found nodes_of_job(command::Session& session, const std::string& name, const std::stop_token& stop) {
  const auto job = kube::get<api::GpuJob>(session.client(), {session.ns(), name}, stop);
  if (!job) return absent_or(job.error());
  if (!job->status.lease) {
    return base::fail(ErrorCode::kConflict,
                      "job " + name + " holds no GPUs: it is " +
                          (job->status.phase.empty() ? "new" : job->status.phase.string()));
  }
  const auto pods = kube::list<api::Pod>(
      session.client(), session.ns(),
      {.label_selector = std::string(api::kJobUidLabel) + "=" + job->metadata.uid, .resource_version = "0"},
      stop);
  if (!pods) return tl::unexpected<base::Error>(pods.error());
  Chosen chosen{.title = "job " + name, .names = std::set<std::string>(), .pods = std::set<api::ObjectKey>()};
  for (const auto& node : job->status.lease->nodes) chosen.names->insert(node.name);
  for (const auto& pod : *pods) chosen.pods->insert(pod.metadata.key());
  return chosen;
}

}  // namespace

base::Result<Chosen> choose(command::Session& session, const std::string& word, const std::stop_token& stop) {
  if (word.empty()) return Chosen{};
  const auto slash = word.find('/');
  const std::string kind = slash == std::string::npos ? "" : word.substr(0, slash);
  const std::string name = slash == std::string::npos ? word : word.substr(slash + 1);
  struct Kind {
    const char* name;
    Found (*find)(command::Session&, const std::string&, const std::stop_token&);
  };
  static constexpr Kind kKinds[] = {{"pool", members_of}, {"node", one_node}, {"job", nodes_of_job}};
  std::optional<Chosen> chosen;
  bool known = kind.empty();
  for (const Kind& one : kKinds) {
    if (!kind.empty() && kind != one.name) continue;
    known = true;
    auto found = one.find(session, name, stop);
    // Who gives no kind may be asking about another one.
    const bool other = !found && kind.empty() && found.error().code == ErrorCode::kForbidden && chosen;
    if (!found && !other) return tl::unexpected<base::Error>(found.error());
    if (!found || !*found) continue;
    if (chosen) {
      return base::fail(ErrorCode::kInvalidArgument, "\"" + name + "\" is a " + chosen->title.substr(0, 4) +
                                                         " and a " + one.name + ": say pool/" + name +
                                                         ", node/" + name + " or job/" + name);
    }
    chosen = std::move(*found);
  }
  if (!known) return base::fail(ErrorCode::kInvalidArgument, "\"" + kind + "\" is none of: pool, node, job");
  if (!chosen) {
    return base::fail(ErrorCode::kNotFound,
                      "no pool, node or job in namespace " + session.ns() + " is called \"" + name + "\"");
  }
  return *chosen;
}

}  // namespace gpupool::nodes
