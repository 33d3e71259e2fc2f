// SPDX-License-Identifier: Apache-2.0
#include "planning/job/record_bill.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "api/v1alpha1/names.h"
#include "base/money.h"
#include "planning/billing/job_bill.h"
#include "planning/job/job_status.h"
#include "planning/nodes/node_gpus.h"
#include "planning/pricing/pool_price.h"

namespace gpupool::planning {
namespace {

namespace state = api::lease_state;

api::GpuJobStatus* status_of(Step& step) {
  if (auto* write = std::get_if<step::WriteStatus>(&step)) return &write->status;
  if (auto* free = std::get_if<step::FreeNodes>(&step)) return &free->then.status;
  return nullptr;
}

// True while the nodes of the lease are the job's: not those of a claim, nor those that it gives back.
bool is_held(const api::GpuJobStatus& status) {
  return holds_nodes(status) && !awaits_others(status) && status.lease->state != state::kReleasing;
}

std::vector<api::NodeRef> nodes_of(const api::GpuJobStatus& status) {
  return status.lease ? status.lease->nodes : std::vector<api::NodeRef>();
}

std::vector<std::string> names_of(const std::vector<api::NodeRef>& nodes) {
  std::vector<std::string> names;
  std::ranges::transform(nodes, std::back_inserter(names), &api::NodeRef::name);
  return names;
}

bool contains(const std::vector<api::NodeRef>& nodes, const api::NodeRef& ref) {
  return std::ranges::any_of(nodes,
                             [&](const auto& node) { return node.name == ref.name && node.uid == ref.uid; });
}

std::vector<api::NodeRef> missing_in(const std::vector<api::NodeRef>& nodes,
                                     const std::vector<api::NodeRef>& others) {
  std::vector<api::NodeRef> missing;
  std::ranges::copy_if(nodes, std::back_inserter(missing),
                       [&](const auto& node) { return !contains(others, node); });
  return missing;
}

// Slices of a GPU of this node: as its plugin reports, else as the pool promises.
std::int64_t split_of(const Observation& seen, const api::Node& node) {
  const auto report = seen.report_of(node);
  if (report != nullptr) {
    for (const auto& gpu : report->status.gpus) {
      if (gpu.slices.total > 0) return gpu.slices.total;
    }
  }
  return seen.pool->spec.sharing->device_split_count.value_or(1);
}

// spec.maxPricePerGpuHour in millionths.
std::optional<base::Micros> most_of(const api::GpuJobSpec& spec) {
  if (!spec.max_price_per_gpu_hour) return std::nullopt;
  return base::parse_micros(*spec.max_price_per_gpu_hour);
}

// highest: of the lease, in millionths; negative: it begins.
PricedNode priced(const Observation& seen, const api::Lease& lease, const api::NodeRef& ref,
                  base::Micros highest) {
  const auto& pool = *seen.pool;
  PricedNode node{ref.name, {}};
  auto& terms = node.terms;
  terms.pool = pool.metadata.name;
  terms.currency = pool.spec.price->currency;
  terms.fee = pool.spec.price->fee;
  std::string model;
  if (const auto object = seen.node(ref.name)) {
    const auto described = describe_node(*object, pool.spec.gpus.resource_name);
    model = described.model;
    terms.owner = object->metadata.label(api::kOwnerLabel);
    terms.gpus = described.gpus;
    if (lease.shared()) terms.split = lease.of_gpus() ? 1 : split_of(seen, *object);
  }
  if (lease.shared()) {
    terms.gpus = 0;
    (lease.of_gpus() ? terms.gpus : terms.slices) = lease.slices * ref.workers;
  }
  auto price = price_of(pool, model, seen.now);
  if (highest >= 0) price = std::min(price, highest);
  // The prices may have changed since the queue gave the nodes.
  if (const auto most = most_of(seen.job.spec)) price = std::min(price, *most);
  terms.per_gpu_hour = base::micros_text(price);
  return node;
}

std::vector<PricedNode> priced(const Observation& seen, const api::Lease& lease,
                               const std::vector<api::NodeRef>& refs, base::Micros highest) {
  std::vector<PricedNode> nodes;
  nodes.reserve(refs.size());
  for (const auto& ref : refs) nodes.push_back(priced(seen, lease, ref, highest));
  return nodes;
}

bool has_price(const Observation& seen) {
  return seen.pool != nullptr && seen.pool->spec.price && check_price(*seen.pool->spec.price).empty();
}

// Now, but never before what was written: clocks may be set back.
base::WallTime now_of(const Observation& seen, const api::JobBill& bill) {
  const auto last = last_moment(bill);
  return last ? std::max(*last, seen.now) : seen.now;
}

// When the first worker of a lease that went on from Taking was created; nothing: there is none.
std::optional<base::WallTime> first_worker(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  std::optional<base::WallTime> first;
  for (const auto& pod : seen.pods) {
    const auto& created = pod->metadata.creation_timestamp;
    if (pod->metadata.label(api::kLease) != lease.id || !created) continue;
    if (!first || *created < *first) first = created;
  }
  if (first && lease.held_since) first = std::max(*first, *lease.held_since);
  if (first) first = std::min(*first, seen.now);
  return first;
}

// When the last command of the lease ended; nothing: one runs, or nobody has said that it ended.
std::optional<base::WallTime> last_end(const Observation& seen) {
  std::optional<base::WallTime> last;
  for (const auto& pod : seen.pods) {
    if (pod->metadata.label(api::kLease) != seen.job.status.lease->id) continue;
    if (pod->status.container_statuses.empty()) return std::nullopt;
    for (const auto& container : pod->status.container_statuses) {
      const auto& end = container.state.terminated;
      if (!end || !end->finished_at) return std::nullopt;
      if (!last || *end->finished_at > *last) last = end->finished_at;
    }
  }
  return last;
}

// The time of a node that is not ready ended when the operator saw that first: it is not known what ran.
base::WallTime end_of_node(const Observation& seen, const std::string& name, base::WallTime end) {
  const auto node = seen.node(name);
  if (node == nullptr || node->ready() || !seen.not_ready_for) return end;
  return std::min(end,
                  seen.now - std::chrono::duration_cast<base::WallTime::duration>(seen.not_ready_for(*node)));
}

void leave(const Observation& seen, api::JobBill& bill, const std::vector<api::NodeRef>& nodes,
           base::WallTime end) {
  const auto names = names_of(nodes);
  leave_bill(bill, {names.begin(), names.end()}, names_of(nodes_of(seen.job.status)),
             [&](const std::string& name) { return end_of_node(seen, name, end); });
}

bool same_nodes(const std::vector<api::NodeRef>& a, const std::vector<api::NodeRef>& b) {
  return a.size() == b.size() && missing_in(a, b).empty();
}

// When the time of the lease begins, or began, if it is not said yet; nothing: it has not begun.
std::optional<base::WallTime> begin_of_time(const Observation& seen, const api::GpuJobStatus& status,
                                            base::WallTime now) {
  const auto& before = seen.job.status;
  const bool held = is_held(status);
  const bool taking = before.lease && before.lease->state == state::kTaking;
  if (held && status.lease->state == state::kTaking) return std::nullopt;
  const bool in_one_go = taking && (!held || status.lease->state == state::kRunning);
  const auto first = in_one_go ? first_worker(seen) : std::nullopt;
  if (!first) return held ? std::optional(now) : std::nullopt;
  const auto& segments = status.bill()->segments;
  return segments.empty() ? *first : std::max(*first, *segments.back().to);
}

void begin(const Observation& seen, api::GpuJobStatus& status) {
  if (!has_price(seen)) return;
  if (!status.progress) status.progress.emplace();
  if (!status.progress->bill) status.progress->bill.emplace();
  open_bill(*status.progress->bill, priced(seen, *status.lease, status.lease->nodes, -1));
}

// The nodes of a lease that goes on.
void change_nodes(const Observation& seen, api::GpuJobStatus& status, base::WallTime now) {
  auto& bill = *status.progress->bill;
  const auto& lease = *status.lease;
  const auto left = missing_in(nodes_of(seen.job.status), lease.nodes);
  const auto joined = missing_in(lease.nodes, nodes_of(seen.job.status));
  const auto highest = highest_price(bill);
  if (highest < 0) return;  // it began without a price
  if (!left.empty()) leave(seen, bill, left, now);
  if (!joined.empty() && has_price(seen)) join_bill(bill, priced(seen, lease, joined, highest), now);
}

}  // namespace

Step record_bill(const Observation& seen, Step step) {
  auto* status = status_of(step);
  if (status == nullptr || (status->bill() == nullptr && !has_price(seen))) return step;
  const auto& before = seen.job.status;
  const bool was_held = is_held(before);
  const bool held = is_held(*status);
  const auto nodes = nodes_of(before);
  if (status->bill() != nullptr && !same_nodes(nodes, nodes_of(*status)))
    name_nodes(*status->progress->bill, names_of(nodes));
  if (held && !was_held) begin(seen, *status);
  if (status->bill() == nullptr) return step;
  auto& bill = *status->progress->bill;
  const auto now = now_of(seen, bill);
  if (const auto from = begin_of_time(seen, *status, now)) begin_time(bill, *from);
  if (was_held && held) change_nodes(seen, *status, now);
  if (was_held && !held) leave(seen, bill, nodes, last_end(seen).value_or(now));
  drop_oldest_segments(bill, before.bill() != nullptr ? before.bill()->segment_count : 0);
  return step;
}

}  // namespace gpupool::planning
