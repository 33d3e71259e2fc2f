// SPDX-License-Identifier: Apache-2.0
#include "planning/billing/job_bill.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "base/money.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;

base::WallTime whole_seconds(base::WallTime time) { return std::chrono::floor<seconds>(time); }

std::set<std::string> named_in_parts(const api::JobBill& bill) {
  std::set<std::string> names;
  for (const auto& part : bill.open) names.insert(part.nodes.begin(), part.nodes.end());
  return names;
}

std::vector<std::string> without(const std::vector<std::string>& names,
                                 const std::set<std::string>& left_out) {
  std::vector<std::string> rest;
  std::ranges::copy_if(names, std::back_inserter(rest),
                       [&](const auto& name) { return !left_out.contains(name); });
  return rest;
}

// Puts the nodes into parts, in order of the first of each.
std::vector<api::OpenPart> parts_of(const std::vector<PricedNode>& nodes,
                                    std::optional<base::WallTime> from) {
  std::vector<api::OpenPart> parts;
  for (const auto& node : nodes) {
    auto part = std::ranges::find(parts, node.terms, &api::OpenPart::terms);
    if (part == parts.end()) part = parts.insert(part, {node.terms, {}, from});
    part->nodes.push_back(node.name);
  }
  return parts;
}

std::int64_t units_of(const api::BillTerms& terms) { return terms.slices > 0 ? terms.slices : terms.gpus; }

std::int64_t split_of(const api::BillTerms& terms) {
  return terms.slices > 0 ? std::max<std::int64_t>(terms.split, 1) : 1;
}

base::Micros micros_of(const std::string& text) { return base::parse_micros(text).value_or(0); }

void add_to_sum(api::JobBill& bill, const api::BillSegment& segment, std::int64_t units, std::int64_t time) {
  if (bill.currency != segment.terms.currency) {
    bill.currency = segment.terms.currency;
    bill.cost.clear();
  }
  bill.cost = base::micros_text(micros_of(bill.cost) + micros_of(segment.cost));
  bill.gpu_seconds += units * time / split_of(segment.terms);
}

void add_segment(api::JobBill& bill, const api::BillTerms& terms, std::vector<std::string> nodes,
                 std::int64_t count, base::WallTime from, base::WallTime to) {
  if (to <= from) return;
  const auto time = std::chrono::duration_cast<seconds>(to - from).count();
  const auto units = units_of(terms) * count;
  const bool same_parts = !bill.segments.empty() && split_of(bill.segments.back().terms) == split_of(terms);
  api::BillSegment segment;
  segment.carry = same_parts ? bill.carry : 0;
  const auto charge =
      base::charge_for(micros_of(terms.per_gpu_hour), units, split_of(terms), time, segment.carry)
          .value_or(base::Charge());
  segment.number = ++bill.segment_count;
  segment.terms = terms;
  segment.nodes = std::move(nodes);
  segment.node_count = count;
  segment.from = from;
  segment.to = to;
  segment.cost = base::micros_text(charge.amount);
  bill.carry = charge.carry;
  add_to_sum(bill, segment, units, time);
  bill.segments.push_back(std::move(segment));
}

}  // namespace

void open_bill(api::JobBill& bill, const std::vector<PricedNode>& nodes) {
  bill.carry = 0;
  bill.open = parts_of(nodes, std::nullopt);
  if (bill.open.empty()) return;
  if (bill.currency.empty()) {
    bill.currency = bill.open.front().terms.currency;
    bill.cost = base::micros_text(0);
  }
  // The largest need not name its nodes: names of a thousand nodes are a third of a status.
  std::ranges::max_element(bill.open, {}, [](const auto& part) { return part.nodes.size(); })->nodes.clear();
}

void begin_time(api::JobBill& bill, base::WallTime at) {
  for (auto& part : bill.open) {
    if (!part.from) part.from = whole_seconds(at);
  }
}

void join_bill(api::JobBill& bill, const std::vector<PricedNode>& nodes, base::WallTime at) {
  auto parts = parts_of(nodes, whole_seconds(at));
  std::ranges::move(parts, std::back_inserter(bill.open));
}

void name_nodes(api::JobBill& bill, const std::vector<std::string>& lease_nodes) {
  for (auto& segment : bill.segments) {
    if (segment.nodes.empty()) segment.nodes = lease_nodes;
  }
  const auto rest = without(lease_nodes, named_in_parts(bill));
  for (auto& part : bill.open) {
    if (part.nodes.empty()) part.nodes = rest;
  }
}

void leave_bill(api::JobBill& bill, const std::set<std::string>& leaving,
                const std::vector<std::string>& all_nodes,
                const std::function<base::WallTime(const std::string&)>& ends) {
  const auto rest = without(all_nodes, named_in_parts(bill));
  std::vector<api::OpenPart> open;
  const bool sole = bill.open.size() == 1;
  for (auto& part : bill.open) {
    const bool unnamed = part.nodes.empty();
    const auto& nodes = unnamed ? rest : part.nodes;
    std::map<base::WallTime, std::vector<std::string>> ended;
    std::size_t count = 0;
    for (const auto& node : nodes) {
      if (!leaving.contains(node)) continue;
      ++count;
      if (part.from) ended[std::max(*part.from, whole_seconds(ends(node)))].push_back(node);
    }
    const bool whole = count == nodes.size();
    for (auto& [to, names] : ended) {
      const auto size = static_cast<std::int64_t>(names.size());
      const bool all = unnamed && sole && names.size() == nodes.size();
      add_segment(bill, part.terms, all ? std::vector<std::string>() : std::move(names), size, *part.from,
                  to);
    }
    if (whole) continue;
    if (count > 0) part.nodes = without(nodes, leaving);
    open.push_back(std::move(part));
  }
  bill.open = std::move(open);
}

void drop_oldest_segments(api::JobBill& bill, std::int64_t written) {
  std::size_t names = 0;
  for (const auto& segment : bill.segments) names += segment.nodes.size();
  const auto too_many = [&] { return bill.segments.size() > kMaxSegments || names > kMaxSegmentNodes; };
  while (too_many() && bill.segments.size() > 1 && bill.segments.front().number <= written) {
    names -= bill.segments.front().nodes.size();
    bill.segments.erase(bill.segments.begin());
  }
}

std::int64_t highest_price(const api::JobBill& bill) {
  std::int64_t highest = -1;
  for (const auto& part : bill.open) highest = std::max(highest, micros_of(part.terms.per_gpu_hour));
  return highest;
}

std::optional<base::WallTime> last_moment(const api::JobBill& bill) {
  std::optional<base::WallTime> last;
  const auto look_at = [&](const std::optional<base::WallTime>& moment) {
    if (moment && (!last || *moment > *last)) last = moment;
  };
  for (const auto& part : bill.open) look_at(part.from);
  for (const auto& segment : bill.segments) look_at(segment.to);
  return last;
}

}  // namespace gpupool::planning
