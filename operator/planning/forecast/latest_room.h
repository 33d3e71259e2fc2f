// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planning/forecast/snapshot.h"

namespace gpupool::planning {

// Where the workers of one kind of job fit for certain. Pure; immutable.
class LatestRoom {
 public:
  // drained: the nodes of a sharing pool as they are when all jobs have left; in the order of queue.shared.
  LatestRoom(const QueueSnapshot& queue, const WaitingLine::Entry& entry,
             const std::vector<SharedNode>& drained);

  // True if the job fits when these nodes have been left by the jobs that hold them now (others are as they
  // are now), and other jobs hold any `others` of the nodes as a whole, whichever these are. A pool's spares
  // are left free.
  bool fits(const std::vector<bool>& left, std::size_t others) const;
  // The same if no job holds anything.
  bool ever() const;
  // The most nodes that the job takes.
  std::size_t most_nodes() const { return most_nodes_; }
  // True if both could use the same node.
  bool meets(const LatestRoom& other) const { return share_one(uses_, other.uses_); }
  // True if one may keep the other waiting: a job that waits reserves all nodes that it tolerates, also those
  // that are too small for it.
  bool delays(const LatestRoom& other) const { return share_one(reserves_, other.reserves_); }

 private:
  struct Place {
    std::size_t node = 0;  // index
    std::int64_t now = 0;  // workers for which there is room
    std::int64_t when_left = 0;
  };
  // Nodes that the job may use together.
  using Group = std::vector<Place>;

  void read_whole(const QueueSnapshot& queue, const Demand& demand);
  void read_shared(const QueueSnapshot& queue, const WaitingLine::Entry& entry,
                   const std::vector<SharedNode>& drained);
  void read_spares(const QueueSnapshot& queue);
  static bool share_one(const std::vector<bool>& a, const std::vector<bool>& b);
  bool fits_in(std::vector<std::int64_t> rooms, std::size_t others) const;
  // Which nodes are spares when these have been left.
  std::vector<bool> spares_when(const std::vector<bool>& left) const;
  bool leaves_spares(const std::vector<bool>& left) const;

  std::int64_t workers_;
  bool shared_;
  bool named_;  // must have all nodes of its group
  std::size_t named_nodes_;
  std::size_t most_nodes_ = 0;
  std::vector<Group> groups_;
  std::vector<bool> uses_;      // by index of the node
  std::vector<bool> reserves_;  // the same; contains uses_
  std::int64_t spares_ = 0;     // that the pool keeps
  // By index: the node if it may be a spare, else null. Only with spares.
  std::vector<const PoolNode*> may_be_spare_;
};

}  // namespace gpupool::planning
