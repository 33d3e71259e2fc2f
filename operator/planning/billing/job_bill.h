// SPDX-License-Identifier: Apache-2.0
// The intervals of status.bill: they begin, they end, and the amounts of those that have ended are exact.
// Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/job_bill.h"
#include "base/clock.h"

namespace gpupool::planning {

// The most that the status keeps of segments, and of names of nodes in them: drop_oldest_segments().
inline constexpr std::size_t kMaxSegments = 32;
inline constexpr std::size_t kMaxSegmentNodes = 1000;

// A node that a lease gets, and what its GPU-seconds cost.
struct PricedNode {
  std::string name;
  api::BillTerms terms;
};

// Begins the bill of a lease. Its time has not begun: begin_time().
void open_bill(api::JobBill& bill, const std::vector<PricedNode>& nodes);

// The time of all parts whose time has not begun begins.
void begin_time(api::JobBill& bill, base::WallTime at);

// Nodes that join a lease that is being held. Their time begins.
void join_bill(api::JobBill& bill, const std::vector<PricedNode>& nodes, base::WallTime at);

// Names the nodes of parts and segments that name none (OpenPart::nodes, BillSegment::nodes). REQUIRED before
// nodes leave or join the lease's nodes.
void name_nodes(api::JobBill& bill, const std::vector<std::string>& lease_nodes);

// Ends the time of these nodes: it becomes segments. A part whose time has not begun leaves nothing. ends:
// when the time of a node ended; a time before its begin counts as its begin. all_nodes: of the lease.
// Afterwards no open part contains them. The segment of a lease that ends as a whole names no nodes.
void leave_bill(api::JobBill& bill, const std::set<std::string>& leaving,
                const std::vector<std::string>& all_nodes,
                const std::function<base::WallTime(const std::string&)>& ends);

// Drops the oldest segments while there are too many, or too many names of nodes in them. The last one stays,
// and so do those with a number above `written`: no status has shown them yet, so nobody can have kept them.
void drop_oldest_segments(api::JobBill& bill, std::int64_t written);

// The highest price of a GPU-hour in the open parts; -1 if there is none.
std::int64_t highest_price(const api::JobBill& bill);

// The most recent moment that a part or a segment names.
std::optional<base::WallTime> last_moment(const api::JobBill& bill);

}  // namespace gpupool::planning
