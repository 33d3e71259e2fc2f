// SPDX-License-Identifier: Apache-2.0
#include "report/publisher.h"

#include <algorithm>
#include <utility>

#include "api/core/node.h"
#include "report/report_body.h"

namespace gpupool::report {
namespace {

using base::ErrorCode;

constexpr base::Backoff::Limits kRetry{
    .initial = std::chrono::seconds(1), .factor = 2.0, .cap = std::chrono::seconds(30), .jitter = 0.2};
constexpr int kMaxConflicts = 3;

base::Counter& reports(base::Metrics& metrics, const std::string& result) {
  return metrics.counter("gpupool_plugin_reports_total", "Writes of this node's GpuNode",
                         {{"result", result}});
}

bool owned_by(const api::GpuNode& object, const std::string& node_uid) {
  const auto& owners = object.metadata.owner_references;
  return owners.size() == 1 && owners.front().uid == node_uid;
}

}  // namespace

Publisher::Publisher(kube::Client& client, PublisherOptions options, base::Clock& clock,
                     base::Metrics& metrics, base::Log log)
    : client_(client),
      options_(std::move(options)),
      clock_(clock),
      log_(std::move(log)),
      succeeded_(reports(metrics, "success")),
      failed_(reports(metrics, "error")),
      // The seed differs from node to node, so that not all plugins of a cluster try again at the same
      // moment.
      backoff_(kRetry, std::hash<std::string>{}(options_.node)),
      not_before_(clock.now()),
      refresh_at_(clock.now()) {}

void Publisher::offer(Facts facts) {
  const base::MutexLock lock(mutex_);
  facts_ = std::move(facts);
  ++offered_;
  changed_.notify_all();
}

void Publisher::run(std::stop_token stop) {
  while (const auto report = next(stop)) {
    const auto written = write(*report, stop);
    if (stop.stop_requested()) return;
    const auto now = clock_.now();
    if (written) {
      backoff_.reset();
      written_ = report->status;
      not_before_ = now + options_.min_interval;
      refresh_at_ = now + options_.refresh;
    } else {
      written_.reset();
      not_before_ = now + std::max(options_.min_interval, backoff_.next(now));
      refresh_at_ = not_before_;
    }
    note(written);
  }
}

std::optional<Publisher::Report> Publisher::next(const std::stop_token& stop) {
  base::MutexLock lock(mutex_);
  while (true) {
    const auto deadline = facts_ ? std::optional(refresh_at_) : std::nullopt;
    clock_.wait(lock.native(), changed_, stop, deadline,
                [this]() GPUPOOL_REQUIRES(mutex_) { return offered_ != seen_; });
    clock_.wait(lock.native(), changed_, stop, not_before_, [] { return false; });
    if (stop.stop_requested()) return std::nullopt;
    seen_ = offered_;
    auto status = make_status(*facts_, options_.plugin_version);
    if (!written_ || status != *written_ || clock_.now() >= refresh_at_)
      return Report{std::move(status), facts_->telemetry};
  }
}

base::Result<void> Publisher::write(const Report& report, const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    auto written = write_once(report, stop);
    if (written) return written;
    object_.reset();  // whatever it was, what is there now must be read again
    const auto code = written.error().code;
    const bool changed = code == ErrorCode::kConflict || code == ErrorCode::kAlreadyExists ||
                         (code == ErrorCode::kNotFound && tries == 1);
    if (!changed || tries == kMaxConflicts) return written;
  }
}

base::Result<void> Publisher::write_once(const Report& report, const std::stop_token& stop) {
  if (!object_) {
    auto object = find_or_create(stop);
    if (!object) return tl::unexpected<base::Error>(object.error());
    object_ = std::move(*object);
  }
  auto status = report.status;
  status.last_report = clock_.wall();
  auto conditions = object_->conditions;
  for (auto& condition : status.conditions) set_condition(conditions, std::move(condition), clock_.wall());
  status.conditions = conditions;
  const auto body = status_body(object_->resource_version, status, report.telemetry);
  const auto answer = kube::decode<api::GpuNode>(
      client_.patch(api::GpuNode::kType, {"", options_.node}, kube::PatchType::kMerge, body, "status", stop));
  if (!answer) return tl::unexpected<base::Error>(answer.error());
  object_ = Object{answer->metadata.resource_version, std::move(conditions)};
  return {};
}

base::Result<Publisher::Object> Publisher::find_or_create(const std::stop_token& stop) {
  const api::ObjectKey key{"", options_.node};
  const auto node = kube::get<api::Node>(client_, key, stop);
  if (!node) return tl::unexpected<base::Error>(node.error());
  const auto& uid = node->metadata.uid;
  auto object = kube::get<api::GpuNode>(client_, key, stop);
  if (!object && object.error().code == ErrorCode::kNotFound) {
    object = kube::decode<api::GpuNode>(
        client_.create(api::GpuNode::kType, "", new_node_body(options_.node, uid), stop));
  } else if (object && !owned_by(*object, uid)) {
    // The machine was registered again as a new Node. With the old owner the garbage collector would delete
    // the GpuNode.
    const auto patch = owner_patch(object->metadata.resource_version, options_.node, uid);
    object = kube::decode<api::GpuNode>(
        client_.patch(api::GpuNode::kType, key, kube::PatchType::kMerge, patch, "", stop));
  }
  if (!object) return tl::unexpected<base::Error>(object.error());
  return Object{object->metadata.resource_version, object->status.conditions};
}

void Publisher::note(const base::Result<void>& written) {
  const auto error = written ? std::string() : written.error().message;
  (written ? succeeded_ : failed_).increment();
  if (error == last_error_) return;
  if (written) {
    log_.info("The node's GpuNode is written again");
  } else {
    log_.warning("The node's GpuNode could not be written", {{"error", error}});
  }
  last_error_ = error;
}

}  // namespace gpupool::report
