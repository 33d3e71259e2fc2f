// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/status_json.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "api/v1alpha1/bill_json.h"
#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"

namespace gpupool::api {
namespace {

using Json = nlohmann::json;

Json time_or_null(const std::optional<base::WallTime>& time) {
  return time ? Json(base::to_rfc3339(*time)) : Json(nullptr);
}

Json time_or_null(const base::Boxed<base::WallTime>& time) {
  return time ? Json(base::to_rfc3339(*time)) : Json(nullptr);
}

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json number_or_null(std::int64_t number) { return number == 0 ? Json(nullptr) : Json(number); }

Json to_json(const std::vector<Condition>& conditions) {
  auto list = Json::array();
  for (const auto& condition : conditions) {
    list.push_back({{"type", condition.type},
                    {"status", condition.status},
                    {"observedGeneration", condition.observed_generation},
                    {"lastTransitionTime", time_or_null(condition.last_transition_time)},
                    {"reason", condition.reason}});
    // Kubernetes 1.20 reads an empty string inside a list as null and refuses it.
    if (!condition.message.empty()) list.back()["message"] = condition.message;
  }
  return list;
}

// Removes the fields without a value, which are null here.
Json without_nulls(Json fields) {
  for (auto field = fields.begin(); field != fields.end();) {
    field = field->is_null() ? fields.erase(field) : std::next(field);
  }
  return fields;
}

Json to_json(const base::Boxed<Lease>& lease) {
  if (!lease) return nullptr;
  auto nodes = Json::array();
  for (const auto& node : lease->nodes) {
    nodes.push_back({{"name", node.name}, {"uid", node.uid}});
    if (node.workers > 0) nodes.back()["workers"] = node.workers;
    if (node.since) nodes.back()["since"] = base::to_rfc3339(*node.since);
  }
  auto lost = Json::array();
  for (const auto& node : lease->lost) {
    lost.push_back({{"name", node.name}, {"uid", node.uid}, {"id", node.id}});
  }
  const auto turn = lease->turn ? *lease->turn : LeaseTurn();
  return without_nulls({{"id", lease->id},
                        {"state", lease->state.view()},
                        {"attempt", lease->attempt},
                        {"specHash", lease->spec_hash},
                        {"slices", number_or_null(lease->slices)},
                        {"unit", text_or_null(lease->unit)},
                        {"nodes", nodes},
                        {"lost", lost.empty() ? Json(nullptr) : lost},
                        {"workload", text_or_null(lease->workload)},
                        {"outcome", text_or_null(lease->outcome)},
                        {"since", time_or_null(lease->since)},
                        {"notBefore", time_or_null(lease->not_before)},
                        {"heldSince", time_or_null(lease->held_since)},
                        {"tenant", text_or_null(turn.tenant)},
                        {"awaits", turn.awaits.empty() ? Json(nullptr) : Json(turn.awaits)},
                        {"awaitsUntil", time_or_null(turn.awaits_until)}});
}

Json to_json(const base::Boxed<ExplainedUnits>& units) {
  if (!units) return nullptr;
  return {{"total", units->total}, {"free", units->free}};
}

// A list never contains an empty string, as above.
Json list_or_null(const std::vector<std::string>& texts) {
  return texts.empty() ? Json(nullptr) : Json(texts);
}

Json to_json(const base::Boxed<ExplainedPool>& pool) {
  if (!pool) return nullptr;
  return without_nulls({{"name", pool->name},
                        {"nodes", pool->nodes},
                        {"unsuited", number_or_null(pool->unsuited)},
                        {"notReady", number_or_null(pool->not_ready)},
                        {"cordoned", number_or_null(pool->cordoned)},
                        {"tainted", number_or_null(pool->tainted)},
                        {"leased", pool->leased},
                        {"foreign", number_or_null(pool->foreign)},
                        {"spare", number_or_null(pool->spare)},
                        {"free", pool->free},
                        {"gpus", to_json(pool->gpus)},
                        {"slices", to_json(pool->slices)},
                        {"why", list_or_null(pool->why)}});
}

Json to_json(const base::Boxed<ExplainedQueue>& ahead) {
  if (!ahead) return nullptr;
  return without_nulls({{"jobs", ahead->jobs},
                        {"gpus", number_or_null(ahead->gpus)},
                        {"slices", number_or_null(ahead->slices)},
                        {"higherPriority", number_or_null(ahead->higher_priority)},
                        {"yours", list_or_null(ahead->yours)}});
}

Json to_json(const base::Boxed<ExplainedStart>& start) {
  if (!start) return nullptr;
  return without_nulls({{"from", time_or_null(start->from)},
                        {"to", time_or_null(start->to)},
                        {"latest", time_or_null(start->latest)},
                        {"basis", text_or_null(start->basis)},
                        {"samples", number_or_null(start->samples)},
                        {"withoutDeadline", number_or_null(start->without_deadline)}});
}

Json to_json(const base::Boxed<Explanation>& explanation) {
  if (!explanation) return nullptr;
  return without_nulls({{"request", explanation->request},
                        {"time", time_or_null(explanation->time)},
                        {"text", explanation->text},
                        {"wants", text_or_null(explanation->wants)},
                        {"pool", to_json(explanation->pool)},
                        {"ahead", to_json(explanation->ahead)},
                        {"start", to_json(explanation->start)},
                        {"sooner", list_or_null(explanation->sooner)}});
}

Json number_or_null(const std::optional<std::int64_t>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json to_json(const base::Boxed<JobMetricsStatus>& metrics) {
  if (!metrics) return nullptr;
  auto values = Json::array();
  for (const auto& value : metrics->values) {
    values.push_back(without_nulls({{"name", value.name},
                                    {"last", value.last},
                                    {"step", number_or_null(value.last_step)},
                                    {"min", text_or_null(value.least)},
                                    {"minStep", number_or_null(value.least_step)},
                                    {"max", text_or_null(value.greatest)},
                                    {"maxStep", number_or_null(value.greatest_step)},
                                    {"count", value.count},
                                    {"notFinite", number_or_null(value.not_finite)}}));
  }
  return without_nulls({{"attempt", metrics->attempt},
                        {"values", values.empty() ? Json(nullptr) : values},
                        {"missing", list_or_null(metrics->missing)},
                        {"otherNames", list_or_null(metrics->other_names)}});
}

Json to_json(const std::vector<TransferredItem>& items) {
  auto list = Json::array();
  for (const auto& item : items) {
    list.push_back(without_nulls({{"path", item.path},
                                  {"to", text_or_null(item.to)},
                                  {"state", text_or_null(item.state)},
                                  {"files", item.files},
                                  {"bytes", item.bytes},
                                  {"digest", text_or_null(item.digest)},
                                  {"message", text_or_null(item.message)}}));
  }
  return list;
}

Json to_json(const base::Boxed<JobSourceStatus>& source) {
  if (!source) return nullptr;
  return {{"attempt", source->attempt},
          {"state", source->state},
          {"bytes", source->bytes},
          {"seconds", source->seconds},
          {"items", to_json(source->items)}};
}

Json to_json(const base::Boxed<JobResultsStatus>& results) {
  if (!results) return nullptr;
  return {{"attempt", results->attempt}, {"state", results->state}, {"items", to_json(results->items)}};
}

Json to_json(const base::Boxed<ReportedCheckpoint>& checkpoint) {
  if (!checkpoint) return nullptr;
  return without_nulls({{"step", checkpoint->step},
                        {"path", text_or_null(checkpoint->path)},
                        {"at", time_or_null(checkpoint->at)}});
}

Json to_json(const AttemptEnd& end) {
  return without_nulls({{"attempt", end.attempt},
                        {"cause", end.cause},
                        {"nodes", text_or_null(end.nodes)},
                        {"left", text_or_null(end.left)},
                        {"at", time_or_null(end.at)},
                        {"fromStep", number_or_null(end.from_step)},
                        {"repeatedSeconds", number_or_null(end.repeated_seconds)}});
}

Json to_json(const base::Boxed<JobQueueStatus>& queue) {
  if (!queue) return nullptr;
  return without_nulls({{"tenant", queue->tenant},
                        {"reservedSince", time_or_null(queue->reserved_since)},
                        {"latestStart", time_or_null(queue->latest_start)},
                        {"place", number_or_null(queue->place)},
                        {"estimatedStart", time_or_null(queue->estimated_start)},
                        {"basis", text_or_null(queue->basis)}});
}

void add_progress(Json& status, const base::Boxed<JobProgress>& progress) {
  if (!progress) return;
  status["activeSeconds"] = number_or_null(progress->active_seconds);
  status["checkpoint"] = to_json(progress->checkpoint);
  status["restarted"] = text_or_null(progress->restarted);
  auto ends = Json::array();
  for (const auto& end : progress->history) ends.push_back(to_json(end));
  if (!ends.empty()) status["history"] = std::move(ends);
  status["yields"] = number_or_null(progress->yields);
  status["queue"] = to_json(progress->queue);
  if (progress->bill) status["bill"] = Json::parse(bill_json(*progress->bill));
}

Json to_json(const SweepTrial& trial) {
  return without_nulls({{"trial", trial.trial},
                        {"job", trial.job},
                        {"value", trial.value},
                        {"parameters", trial.parameters.empty() ? Json(nullptr) : Json(trial.parameters)}});
}

Json to_json(const std::vector<SweepFailure>& failures) {
  if (failures.empty()) return nullptr;
  auto list = Json::array();
  for (const auto& failure : failures) {
    list.push_back(without_nulls(
        {{"trial", failure.trial}, {"reason", failure.reason}, {"message", text_or_null(failure.message)}}));
  }
  return list;
}

Json to_json(const std::vector<DrainingNode>& draining) {
  if (draining.empty()) return nullptr;
  auto nodes = Json::array();
  for (const auto& node : draining) {
    nodes.push_back(without_nulls({{"node", node.name},
                                   {"waitsFor", text_or_null(node.waits_for)},
                                   {"deadline", time_or_null(node.deadline)},
                                   {"problem", text_or_null(node.problem)}}));
  }
  return nodes;
}

Json to_json(const base::Boxed<QueueHolder>& holder) {
  if (!holder) return nullptr;
  return without_nulls({{"job", holder->job},
                        {"since", time_or_null(holder->since)},
                        {"workers", holder->workers},
                        {"latestStart", time_or_null(holder->latest_start)}});
}

Json to_json(const base::Boxed<QueueStatus>& queue) {
  if (!queue) return nullptr;
  auto tenants = Json::array();
  for (const auto& tenant : queue->tenants) {
    tenants.push_back({{"name", tenant.name},
                       {"queued", tenant.queued},
                       {"held", tenant.held},
                       {"averageHeld", tenant.average_held},
                       {"usage", tenant.usage}});
  }
  return without_nulls({{"asOf", time_or_null(queue->as_of)},
                        {"holder", to_json(queue->holder)},
                        {"tenants", tenants.empty() ? Json(nullptr) : tenants}});
}

Json to_json(const base::Boxed<PoolPriceNow>& price) {
  if (!price) return nullptr;
  return {{"perGpuHour", price->per_gpu_hour},
          {"best", price->best},
          {"bids", price->bids},
          {"decidedAt", time_or_null(price->decided_at)}};
}

std::string update(const ResourceType& type, const ObjectMeta& metadata, Json status) {
  Json about = {
      {"name", metadata.name}, {"uid", metadata.uid}, {"resourceVersion", metadata.resource_version}};
  if (!metadata.ns.empty()) about["namespace"] = metadata.ns;
  const Json document = {{"apiVersion", kApiVersion},
                         {"kind", type.kind},
                         {"metadata", std::move(about)},
                         {"status", without_nulls(std::move(status))}};
  // Messages may contain the output of users' programs, so invalid UTF-8 must not throw.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string status_update(const ObjectMeta& metadata, const GpuJobStatus& status) {
  Json fields = {{"observedGeneration", status.observed_generation},
                 {"phase", status.phase.view()},
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
                 {"master", text_or_null(status.master)},
                 {"gpus", text_or_null(status.gpus)},
                 {"explanation", to_json(status.explanation)},
                 {"metrics", to_json(status.metrics)},
                 {"source", to_json(status.source)},
                 {"results", to_json(status.results)}};
  add_progress(fields, status.progress);
  return update(GpuJob::kType, metadata, std::move(fields));
}

std::string status_update(const ObjectMeta& metadata, const GpuPoolStatus& status) {
  auto models = Json::array();
  for (const auto& model : status.gpus.models) {
    models.push_back({{"model", model.model}, {"count", model.count}});
    if (!model.memory.empty())
      models.back()["memory"] = model.memory;  // no empty string inside a list, as above
  }
  auto excluded = Json::array();
  for (const auto& node : status.excluded) excluded.push_back({{"name", node.name}, {"reason", node.reason}});
  Json slices = nullptr;
  if (status.slices) slices = {{"total", status.slices->total}, {"free", status.slices->free}};
  const auto& counts = status.nodes;
  Json nodes = {{"total", counts.total},       {"ready", counts.ready},   {"unready", counts.unready},
                {"cordoned", counts.cordoned}, {"leased", counts.leased}, {"available", counts.available}};
  if (counts.spare > 0) nodes["spare"] = counts.spare;
  return update(GpuPool::kType, metadata,
                {{"observedGeneration", status.observed_generation},
                 {"conditions", to_json(status.conditions)},
                 {"nodes", nodes},
                 {"gpus",
                  {{"total", status.gpus.total},
                   {"leased", status.gpus.leased},
                   {"available", status.gpus.available},
                   {"models", models}}},
                 {"slices", slices},
                 {"jobs", {{"queued", status.jobs.queued}, {"running", status.jobs.running}}},
                 {"excluded", excluded.empty() ? Json(nullptr) : excluded},
                 {"draining", to_json(status.draining)},
                 {"queue", to_json(status.queue)},
                 {"price", to_json(status.price)}});
}

std::string status_update(const ObjectMeta& metadata, const GpuSweepStatus& status) {
  auto top = Json::array();
  for (const auto& trial : status.top) top.push_back(to_json(trial));
  const auto& counts = status.counts;
  return update(GpuSweep::kType, metadata,
                {{"observedGeneration", status.observed_generation},
                 {"phase", status.phase},
                 {"conditions", to_json(status.conditions)},
                 {"reason", text_or_null(status.reason)},
                 {"message", text_or_null(status.message)},
                 {"progress", text_or_null(status.progress)},
                 {"counts",
                  {{"total", counts.total},
                   {"created", counts.created},
                   {"active", counts.active},
                   {"succeeded", counts.succeeded},
                   {"failed", counts.failed},
                   {"stopped", counts.stopped}}},
                 {"best", status.best ? to_json(*status.best) : Json(nullptr)},
                 {"top", top.empty() ? Json(nullptr) : top},
                 {"results", list_or_null(status.results)},
                 {"failures", to_json(status.failures)},
                 {"specHash", text_or_null(status.spec_hash)},
                 {"startTime", time_or_null(status.start_time)},
                 {"completionTime", time_or_null(status.completion_time)}});
}

}  // namespace gpupool::api
