// SPDX-License-Identifier: Apache-2.0
// Measures the time to plan the queue of a pool, in memory: build/bin/bench_placement [--smoke].
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/support/allocations.h"
#include "bench/support/instructions.h"
#include "bench/support/results.h"
#include "planning/queue/queue_plan.h"
#include "planning/queue/turn_plan.h"
#include "tests/unit/planning/builders.h"

namespace {

using namespace gpupool;
using bench::Results;
using bench::Sample;
using Queue = std::vector<std::shared_ptr<const api::GpuJob>>;

std::vector<planning::PoolNode> make_nodes(int count, bool alike) {
  std::vector<planning::PoolNode> nodes;
  for (int i = 0; i < count; ++i) {
    nodes.push_back(test::make_pool_node("node-" + std::to_string(100000 + i), alike || i % 2 == 0 ? 8 : 4));
  }
  return nodes;
}

Queue make_queue(int count, std::int64_t gpus, std::int64_t gpus_per_worker) {
  Queue queue;
  for (int i = 0; i < count; ++i) {
    auto job = test::make_job("job-" + std::to_string(100000 + i), gpus, gpus_per_worker);
    job.metadata.creation_timestamp = test::at(i);
    queue.push_back(test::share(std::move(job)));
  }
  return queue;
}

// Milliseconds of each pass.
template <class Pass>
Sample repeat(int times, const Pass& pass) {
  Sample sample;
  pass();
  for (int i = 0; i < times; ++i) {
    const auto began = std::chrono::steady_clock::now();
    pass();
    sample.push_back(bench::seconds_since(began) * 1e3);
  }
  return sample;
}

// Counts the pass, or tells its times.
template <class Pass>
void measure(Results& results, const std::string& name, int times, const Pass& pass) {
  if (bench::counting()) {
    bench::count_pass(name, pass);
  } else {
    results.sample(name, repeat(times, pass), "ms");
  }
}

planning::WaitingLine line_of(const Queue& queue) {
  planning::WaitingLine line;
  for (std::size_t i = 0; i < queue.size(); ++i) line.put(queue[i], i);
  return line;
}

// Plans the queue repeatedly. Reports an error if the number of granted nodes is not `expected`.
void plan(Results& results, const std::string& name, const std::vector<planning::PoolNode>& nodes,
          const planning::WaitingLine& line, std::size_t expected, int times) {
  const auto pool = test::share(test::make_pool());
  std::size_t given = 0;
  const auto pass = [&] {
    std::vector<const planning::PoolNode*> members;
    for (const auto& node : nodes) members.push_back(&node);
    const planning::QueuePlan planned(pool, members, line);
    given = 0;
    for (const auto& [job, verdict] : planned.granted()) given += verdict.nodes.size();
  };
  measure(results, name, times, pass);
  if (given != expected) results.value(name + " is wrong, nodes", static_cast<double>(given), "error");
}

// A gang of 200 whole nodes.
void gang(Results& results, const std::string& name, int node_count, bool alike, int times) {
  plan(results, name, make_nodes(node_count, alike), line_of(make_queue(1, 1600, 8)), 200, times);
}

// The same with a template that asks for labels and for CPU, as most do.
void picky_gang(Results& results, const std::string& name, int node_count, int times) {
  std::vector<planning::PoolNode> nodes;
  for (int i = 0; i < node_count; ++i) {
    auto node = test::make_node("node-" + std::to_string(100000 + i), 8);
    for (int label = 0; label < 30; ++label)
      node.metadata.labels["example.com/label-" + std::to_string(label)] = "value";
    node.metadata.labels["topology.kubernetes.io/zone"] = i % 4 == 0 ? "a" : "b";
    node.status.allocatable["cpu"] = "128";
    nodes.push_back(test::make_pool_node(std::move(node)));
  }
  const auto job = test::with_template(test::make_job("gang", 1600, 8),
                                       R"("nodeSelector":{"topology.kubernetes.io/zone":"b"})",
                                       R"("resources":{"requests":{"cpu":"96","memory":"512Gi"}})");
  plan(results, name, nodes, line_of({test::share(job)}), 200, times);
}

// The same on nodes of 40 racks in 4 zones: it needs one zone, and prefers few racks.
void near_gang(Results& results, const std::string& name, int node_count, int times) {
  std::vector<planning::PoolNode> nodes;
  for (int i = 0; i < node_count; ++i) {
    auto node = test::make_node("node-" + std::to_string(100000 + i), 8);
    for (int label = 0; label < 30; ++label)
      node.metadata.labels["example.com/label-" + std::to_string(label)] = "value";
    node.metadata.labels["example.com/rack"] = "rack-" + std::to_string(i % 40);
    node.metadata.labels["topology.kubernetes.io/zone"] = "zone-" + std::to_string(i % 4);
    nodes.push_back(test::make_pool_node(std::move(node)));
  }
  auto job = test::make_job("gang", 1600, 8);
  job.spec.near = api::Near{{"example.com/rack", "topology.kubernetes.io/zone"}, true};
  plan(results, name, nodes, line_of({test::share(job)}), 200, times);
}

// All nodes except one are held; each job waits for one.
void waiting(Results& results, const std::string& name, int node_count, int job_count, int times) {
  auto nodes = make_nodes(node_count, true);
  for (auto& node : nodes) node.leased = node.name != nodes.back().name;
  plan(results, name, nodes, line_of(make_queue(job_count, 8, 8)), 1, times);
}

// Each job gets a node.
void burst(Results& results, const std::string& name, int count, int times) {
  plan(results, name, make_nodes(count, true), line_of(make_queue(count, 8, 8)),
       static_cast<std::size_t>(count), times);
}

// Each leased node is held by a job of these tenants that may yield.
std::vector<planning::Holding> holdings_of(const std::vector<planning::PoolNode>& nodes, int tenant_count) {
  std::vector<planning::Holding> holdings;
  for (const auto& node : nodes) {
    if (!node.leased) continue;
    const auto i = static_cast<int>(holdings.size());
    const auto tenant = "tenant-" + std::to_string(i % tenant_count);
    planning::Holding holding;
    holding.job = {tenant, "holder-" + std::to_string(i)};
    holding.uid = "uid-" + std::to_string(i);
    holding.tenant = tenant;
    holding.amount = 8 * planning::kMilli;
    holding.nodes = {node.name};
    holding.may_yield = holding.saves = true;
    holding.running_since = holding.held_since = test::at(i);
    holding.lost_seconds = i % 600;
    holdings.push_back(std::move(holding));
  }
  return holdings;
}

std::vector<planning::HoldingNow> holders_of(const std::vector<planning::Holding>& holdings) {
  std::vector<planning::HoldingNow> holders;
  holders.reserve(holdings.size());
  for (const auto& holding : holdings)
    holders.push_back({&holding, false, holding.may_yield, holding.lost_seconds});
  return holders;
}

// Jobs of 20 sizes and 10 deadlines, of these tenants, all different; all nodes except one are held for an
// hour, by jobs of the same tenants.
void tenants(Results& results, const std::string& name, int node_count, int job_count, int tenant_count,
             int times) {
  auto nodes = make_nodes(node_count, true);
  for (auto& node : nodes) node.leased = node.name != nodes.back().name;
  std::vector<const planning::PoolNode*> members;
  for (const auto& node : nodes) members.push_back(&node);
  auto pool = test::make_pool();
  pool.spec.queue.emplace();
  planning::WaitingLine line;
  for (int i = 0; i < job_count; ++i) {
    auto job =
        test::make_job("job-" + std::to_string(100000 + i), std::int64_t{8} * (1 + i / tenant_count % 20), 8);
    job.metadata.ns = "tenant-" + std::to_string(i % tenant_count);
    job.metadata.creation_timestamp = test::at(i);
    const auto bound = std::int64_t{600} << (i / tenant_count / 20 % 10);
    line.put(test::share(job), static_cast<std::uint64_t>(i), {}, {job.metadata.ns, 0, bound, 90});
  }
  const auto shares = [](const std::string& tenant) {
    planning::TenantBook::Share share;
    share.tenant.name = tenant;
    share.average = static_cast<planning::MilliGpus>(tenant.size() * 1000);
    return share;
  };
  const auto free_at = [](const std::string&) { return std::optional(test::at(100'000)); };
  const auto holdings = holdings_of(nodes, tenant_count);
  const planning::TurnInput input{test::share(pool),
                                  members,
                                  shares,
                                  free_at,
                                  test::at(job_count),
                                  {},
                                  [&] { return holders_of(holdings); }};
  std::size_t answers = 0;
  const auto pass = [&] {
    const planning::TurnPlan planned(input, line);
    answers = planned.refusals() + planned.grants().size();
  };
  measure(results, name, times, pass);
  if (answers < line.groups().size())
    results.value(name + " is wrong, answers", static_cast<double>(answers), "error");
}

// All nodes are held, each by a job of these tenants that may yield; a job of a tenant with a guarantee
// claims eight of them.
void claim(Results& results, const std::string& name, int running, int tenant_count, int times) {
  auto nodes = make_nodes(running, true);
  std::vector<const planning::PoolNode*> members;
  for (auto& node : nodes) {
    node.leased = true;
    members.push_back(&node);
  }
  const auto holdings = holdings_of(nodes, tenant_count);
  auto pool = test::make_pool();
  pool.spec.queue.emplace();
  pool.spec.queue->tenants = {{"owner", {"owner"}, 1, 64, {}, {}}};
  planning::WaitingLine line;
  auto job = test::make_job("claimant", 64, 8);
  job.metadata.ns = "owner";
  line.put(test::share(job), 0, {}, {"owner", 0, 0, 0});
  const auto shares = [&](const std::string& tenant) {
    planning::TenantBook::Share share;
    share.tenant.name = tenant;
    if (tenant == "owner") {
      share.tenant.guaranteed = 64 * planning::kMilli;
    } else {
      share.held = 8 * planning::kMilli * running / tenant_count;
    }
    return share;
  };
  const auto free_at = [](const std::string&) { return std::optional(test::at(200'000)); };
  const planning::TurnInput input{test::share(pool),
                                  members,
                                  shares,
                                  free_at,
                                  test::at(100'000),
                                  {},
                                  [&] { return holders_of(holdings); }};
  std::size_t claims = 0;
  const auto pass = [&] {
    const planning::TurnPlan planned(input, line);
    claims = planned.grants().size();
  };
  measure(results, name, times, pass);
  if (claims != 1) results.value(name + " is wrong, claims", static_cast<double>(claims), "error");
}

}  // namespace

int main(int argc, char** argv) {
  const bool smoke = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
  Results results("placement");
  const int times = smoke ? 5 : 1000;
  gang(results, "gang of 200 on 1,000 nodes", 1000, true, times);
  gang(results, "gang of 200 on 20,000 nodes", 20000, true, smoke ? 2 : 200);
  gang(results, "gang of 200 on 1,000 nodes of two sizes", 1000, false, smoke ? 2 : 200);
  picky_gang(results, "picky gang of 200 on 1,000 nodes", 1000, times);
  near_gang(results, "near gang of 200 on 1,000 nodes", 1000, times);
  burst(results, smoke ? "100 jobs on 100 free nodes" : "1,000 jobs on 1,000 free nodes", smoke ? 100 : 1000,
        5);
  waiting(results, "1,000 waiting, one of 1,000 nodes freed", 1000, 1000, smoke ? 1 : 10);
  tenants(results, "1,000 waiting of 10 tenants, one of 1,000 nodes freed", 1000, 1000, 10, smoke ? 1 : 1000);
  claim(results, "claim of 8 nodes that 1,000 jobs hold", 1000, 20, smoke ? 1 : 1000);
  if (!smoke) {
    tenants(results, "10,000 waiting of 100 tenants, one of 1,000 nodes freed", 1000, 10000, 100, 1000);
    waiting(results, "2,500 waiting, one of 1,000 nodes freed", 1000, 2500, 5);
    waiting(results, "10,000 waiting, one of 1,000 nodes freed", 1000, 10000, 5);
  }
  results.print();
}
