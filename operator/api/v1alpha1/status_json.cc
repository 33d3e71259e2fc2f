#include "api/v1alpha1/status_json.h"

#include <nlohmann/json.hpp>

#include "base/rfc3339.h"

namespace gpupool::api {
namespace {

using Json = nlohmann::json;

Json time_or_null(const std::optional<base::WallTime>& time) {
  return time ? Json(base::to_rfc3339(*time)) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json number_or_null(std::int64_t number) { return number == 0 ? Json(nullptr) : Json(number); }

Json to_json(const std::vector<Condition>& conditions) {
  auto list = Json::array();
  for (const auto& condition : conditions) {
    list.push_back({{"type", condition.type},
                    {"status", condition.status},
                    {"observedGeneration", condition.observed_generation},
                    {"lastTransitionTime", time_or_null(condition.last_transition_time)},
                    {"reason", condition.reason}});
    // 1.20 reads an empty string inside a list as null and refuses it.
    if (!condition.message.empty()) list.back()["message"] = condition.message;
  }
  return list;
}

Json to_json(const base::Boxed<Lease>& lease) {
  if (!lease) return nullptr;
  auto nodes = Json::array();
  for (const auto& node : lease->nodes) {
    nodes.push_back({{"name", node.name}, {"uid", node.uid}});
    if (node.workers > 0) nodes.back()["workers"] = node.workers;
  }
  auto lost = Json::array();
  for (const auto& node : lease->lost) {
    lost.push_back({{"name", node.name}, {"uid", node.uid}, {"id", node.id}});
  }
  return {{"id", lease->id},
          {"state", lease->state},
          {"attempt", lease->attempt},
          {"specHash", lease->spec_hash},
          {"slices", number_or_null(lease->slices)},
          {"nodes", nodes},
          {"lost", lost.empty() ? Json(nullptr) : lost},
          {"workload", text_or_null(lease->workload)},
          {"outcome", text_or_null(lease->outcome)},
          {"since", time_or_null(lease->since)},
          {"notBefore", time_or_null(lease->not_before)}};
}

std::string patch(const std::string& resource_version, Json status) {
  const Json document = {{"metadata", {{"resourceVersion", resource_version}}},
                         {"status", std::move(status)}};
  // Messages carry what users' programs printed: never let a stray byte throw.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string status_patch(const std::string& resource_version, const GpuJobStatus& status) {
  return patch(resource_version, {{"observedGeneration", status.observed_generation},
                                  {"phase", status.phase},
                                  {"conditions", to_json(status.conditions)},
                                  {"lease", to_json(status.lease)},
                                  {"leaseSequence", status.lease_sequence},
                                  {"workers",
                                   {{"total", status.workers.total},
                                    {"running", status.workers.running},
                                    {"succeeded", status.workers.succeeded}}},
                                  {"attempts", status.attempts},
                                  {"failures", status.failures},
                                  {"unexplainedLosses", number_or_null(status.unexplained_losses)},
                                  {"startTime", time_or_null(status.start_time)},
                                  {"completionTime", time_or_null(status.completion_time)},
                                  {"reason", text_or_null(status.reason)},
                                  {"message", text_or_null(status.message)},
                                  {"nodeNames", text_or_null(status.node_names)},
                                  {"master", text_or_null(status.master)}});
}

std::string status_patch(const std::string& resource_version, const GpuPoolStatus& status) {
  auto models = Json::array();
  for (const auto& model : status.gpus.models) {
    models.push_back({{"model", model.model}, {"count", model.count}});
    if (!model.memory.empty()) models.back()["memory"] = model.memory;  // no null inside a list, as above
  }
  auto excluded = Json::array();
  for (const auto& node : status.excluded) excluded.push_back({{"name", node.name}, {"reason", node.reason}});
  Json slices = nullptr;
  if (status.slices) slices = {{"total", status.slices->total}, {"free", status.slices->free}};
  const auto& nodes = status.nodes;
  return patch(resource_version,
               {{"observedGeneration", status.observed_generation},
                {"conditions", to_json(status.conditions)},
                {"nodes",
                 {{"total", nodes.total},
                  {"ready", nodes.ready},
                  {"unready", nodes.unready},
                  {"cordoned", nodes.cordoned},
                  {"leased", nodes.leased},
                  {"available", nodes.available}}},
                {"gpus",
                 {{"total", status.gpus.total},
                  {"leased", status.gpus.leased},
                  {"available", status.gpus.available},
                  {"models", models}}},
                {"slices", slices},
                {"jobs", {{"queued", status.jobs.queued}, {"running", status.jobs.running}}},
                {"excluded", excluded.empty() ? Json(nullptr) : excluded}});
}

}  // namespace gpupool::api
