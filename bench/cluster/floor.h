// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/v1alpha1/gpu_job.h"
#include "bench/cluster/connection.h"
#include "runtime/cache/informer.h"
#include "runtime/queue/work_queue.h"

namespace gpupool::bench {

// The minimum that any controller must do for a job under gpupool's protocol: its API writes in their order,
// without decisions, checks, or state for a crash. Each pool (the value of kPoolOfNode) has a list of free
// nodes; jobs get nodes in the order in which they were seen, as many as they have GPUs. It does not handle
// failed jobs or restarts, except after the loss of a node.
class Floor {
 public:
  static constexpr char kPoolOfNode[] = "gpupool.dev.node-restriction.kubernetes.io/pool";

  // threads: reconcile threads, as the --workers of the operator. watch_nodes: for lost nodes.
  Floor(Connection& connection, const std::string& gpu_resource, int threads, bool watch_nodes);
  // Returns when the caches are full.
  void start();
  ~Floor();

 private:
  enum class Stage { kNew, kRunning, kReleasing, kDone };
  struct Life {
    Stage stage = Stage::kNew;
    bool waits = false;
    api::GpuJob job = {};  // the server's last answer
    std::vector<api::Node> nodes = {};
    std::string child_uid = {};
    std::string service_uid = {};
  };
  struct Waiting {
    api::ObjectKey job;
    std::size_t nodes;
  };
  struct Pool {
    std::vector<api::Node> free = {};
    std::deque<Waiting> waiting = {};
  };
  using Pods = std::vector<std::shared_ptr<const api::Pod>>;

  void work(const std::stop_token& stop);
  void step(const api::ObjectKey& key, const std::stop_token& stop);
  void begin(Life& life, const std::stop_token& stop);
  void create_children(Life& life, const std::stop_token& stop);
  void finish(Life& life, const char* outcome, const std::stop_token& stop);
  void remove_children(Life& life, const std::stop_token& stop);
  void release(Life& life, const Pods& pods, const std::stop_token& stop);
  void clear(Life& life, const std::stop_token& stop);
  void remove(Life& life, const api::GpuJob& job, const std::stop_token& stop);
  bool take_free_nodes(Life& life, const api::ObjectKey& job);
  void give_free_node(api::Node node);
  void serve_waiting(Pool& pool);
  void write_status(api::GpuJob& job, const api::GpuJobStatus& status, const std::stop_token& stop);
  void mark(api::Node& node, const api::GpuJob& job, bool taken, const std::stop_token& stop);
  // Defined in floor_move.cc.
  bool lost(const Life& life) const;
  void move(Life& life, const std::stop_token& stop);
  void give_up(Life& life, const std::stop_token& stop);

  Connection& connection_;
  const std::string gpu_resource_;
  const int threads_;
  const bool watch_nodes_;
  runtime::Informer<api::GpuJob> jobs_;
  runtime::Informer<api::Pod> pods_;
  runtime::Informer<api::Node> nodes_;  // only with watch_nodes
  runtime::WorkQueue queue_;
  std::mutex mutex_;  // guards the next two
  std::map<api::ObjectKey, Life> lives_;
  std::map<std::string, Pool> pools_;
  std::vector<std::jthread> running_;  // declared last, because they use the other members
};

// Ends the program after an error: a floor that skips a write measures nothing.
template <class T>
T must(base::Result<T> result, const char* what) {
  if (!result) {
    std::fprintf(stderr, "bench_floor: %s: %s\n", what, result.error().message.c_str());
    std::_Exit(EXIT_FAILURE);
  }
  return *std::move(result);
}

// Returns the patch that removes the first finalizer, which must be this one.
std::string finalizer_off(const std::string& finalizer);

}  // namespace gpupool::bench
