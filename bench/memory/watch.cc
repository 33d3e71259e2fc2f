// SPDX-License-Identifier: Apache-2.0
// Sends recorded events through one watch into the cache and the queues, without a network:
// bench_watch DIRECTORY [--smoke].
#include <cstring>
#include <string>
#include <thread>

#include "bench/memory/recording.h"
#include "bench/support/instructions.h"
#include "bench/support/results.h"
#include "controllers/gpujob/controller.h"
#include "controllers/gpunode/controller.h"
#include "controllers/gpupool/controller.h"
#include "controllers/sweeper/node_sweeper_controller.h"
#include "controllers/sweeper/pod_sweeper_controller.h"
#include "tests/unit/planning/builders.h"

namespace {

using namespace gpupool;
using bench::Results;

// What every use of caches needs.
struct World {
  World(const std::string& name, const std::string& bytes, int count)
      : recording(name, bytes, count), client(recording, nullptr, clock, metrics, {}) {}

  template <class K>
  void play(runtime::Informer<K>& informer) {
    const std::jthread thread([&](std::stop_token stop) { informer.reflector().run(std::move(stop)); });
    recording.wait();
  }

  bench::Recording recording;
  base::SystemClock clock;
  base::Metrics metrics;
  base::Log log = base::Log::none();
  kube::Client client;
};

void pods(Results& results, const std::string& line, int count) {
  constexpr int kObjects = 200;
  const auto bytes = bench::events_of(line, count, kObjects);
  World world("pod event to the queue", bytes, count);
  runtime::WorkQueue queue(world.clock, std::chrono::seconds(1));
  runtime::Informer<api::Pod> informer(world.client, {}, world.clock, world.metrics, world.log);
  informer.on_change(
      [&](const runtime::Change<api::Pod>& change) { queue.add(change.after->metadata.key()); });
  world.play(informer);
  results.value("pod events through a watch", count / world.recording.seconds(), "events/s");
  results.value("allocations an event", static_cast<double>(world.recording.allocations()) / count,
                "allocations");
  if (informer.store().size() != kObjects || queue.depth() != kObjects)
    results.value("pod events were lost", 1, "error");
}

// Node events with all handlers of the operator, while this number of jobs hold a node each. Returns
// microseconds per event.
double nodes(Results& results, const std::string& line, int count, int jobs) {
  const auto bytes = bench::events_of(line, count, 100);
  const auto name = "node event, " + std::to_string(jobs) + " jobs";
  World world(name + ", to the queues", bytes, count);
  controllers::Caches caches(world.client, world.clock, world.metrics, world.log);
  runtime::EventRecorder events(world.client, "bench", "bench", world.clock, world.metrics, world.log);
  runtime::Manager manager(world.clock, world.log);
  const controllers::Setup setup{world.client, caches,        events,   manager,
                                 world.clock,  world.metrics, world.log};
  controllers::PoolQueue pool_queue(caches, world.clock);
  const controllers::GpuJobController gpujobs(setup, pool_queue, {});
  const controllers::GpuPoolController pools(setup, pool_queue);
  const controllers::NodeSweeperController node_sweeper(setup);
  const controllers::PodSweeperController pod_sweeper(setup);
  const controllers::NodeMarkerController node_marker(setup);
  runtime::StoreWriter<api::GpuJob> writer(caches.jobs.store());
  for (int i = 0; i < jobs; ++i) {
    auto job = test::make_job("job-" + std::to_string(i));
    job.status.lease = test::make_lease(job, api::lease_state::kRunning, {"node-" + std::to_string(i)});
    writer.apply(std::move(job));
  }
  world.play(caches.nodes);
  const auto each = world.recording.seconds() / count * 1e6;
  results.value(name, each, "us");
  if (caches.nodes.store().size() != 100) results.value("node events were lost", 1, "error");
  return each;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool smoke = argc > 2 && std::strcmp(argv[2], "--smoke") == 0;
  const std::string data = argv[1];
  Results results("watch");
  pods(results, bench::read_line(data + "/pod.json"), bench::counting() ? 200 : smoke ? 1000 : 50000);
  const auto node = bench::read_line(data + "/node.json");
  for (const int jobs : {0, 1000, 10000}) nodes(results, node, smoke ? 100 : 1000, smoke ? jobs / 100 : jobs);
  results.print();
}
