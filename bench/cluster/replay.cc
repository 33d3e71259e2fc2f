// SPDX-License-Identifier: Apache-2.0
// Replays the job mix of Kueue's performance test (test/performance/scheduler, "baseline"; its queues with
// quotas of 20 are pools with nodes here) and measures the time:
// bench_replay --kubeconfig FILE --prefix P --pools N (30) [--nodes N (20): of each pool] [--small N (350)]
//   [--medium N (100)] [--large N (50)] [--limit S (7200)] [--end delete: deletes all jobs instead, and
//   waits].
// Pool and namespace i are both named P-i.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "api/v1alpha1/gpu_job.h"
#include "bench/cluster/connection.h"
#include "bench/support/arguments.h"
#include "bench/support/results.h"
#include "runtime/cache/informer.h"

namespace {

using namespace gpupool;
using std::chrono::milliseconds;
constexpr int kThreads = 16;

struct Kind {
  const char* name;
  long jobs;  // jobs of each pool
  long gpus;
  milliseconds runs;
  milliseconds gap;  // time between two jobs of a pool
};

struct Planned {
  milliseconds due;
  std::string ns;
  std::string name;
  const Kind* kind;
};

// Observes the jobs, with times.
class Sight {
 public:
  explicit Sight(bench::Connection& connection)
      : connection_(connection),
        jobs_(connection.client(), {}, connection.clock(), connection.metrics(), connection.log()) {
    jobs_.on_change([this](const runtime::Change<api::GpuJob>& change) { see(change); });
    thread_ = std::move(connection.fill({&jobs_.reflector()}).front());
  }

  struct Times {
    base::SteadyTime submitted, leased, done;
  };

  void submitted(const Planned& job) {
    const std::lock_guard lock(mutex_);
    times_[job.ns + "/" + job.name].submitted = connection_.clock().now();
  }

  template <class Count>
  bool wait(const Count& count, std::size_t wanted, std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return failed_ > 0 || count() == wanted; }) && failed_ == 0;
  }
  bool wait_done(std::size_t jobs, std::chrono::seconds limit) {
    return wait([this] { return done_; }, jobs, limit);
  }
  bool wait_gone(std::chrono::seconds limit) {
    return wait([this] { return jobs_.store().size(); }, 0, limit);
  }
  std::vector<std::shared_ptr<const api::GpuJob>> all() const { return jobs_.store().list(); }
  const std::map<std::string, Times>& times() const { return times_; }  // valid when all is done
  std::size_t done() const { return done_; }

 private:
  void see(const runtime::Change<api::GpuJob>& change) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    if (!change.after) return;
    const auto& status = change.after->status;
    auto& times = times_[change.after->metadata.key().to_string()];
    const auto now = connection_.clock().now();
    if (status.lease && times.leased == base::SteadyTime()) times.leased = now;
    if (status.phase == api::phase::kFailed) ++failed_;
    if (status.phase != api::phase::kSucceeded || times.done != base::SteadyTime()) return;
    times.done = now;
    ++done_;
  }

  bench::Connection& connection_;
  std::mutex mutex_;  // guards the next three
  std::map<std::string, Times> times_;
  std::size_t done_ = 0;
  int failed_ = 0;
  std::condition_variable changed_;
  runtime::Informer<api::GpuJob> jobs_;
  std::jthread thread_;
};

std::string numbered(const std::string& prefix, long i) { return prefix + "-" + std::to_string(i); }

std::vector<Planned> plan(const std::vector<Kind>& kinds, const std::string& prefix, long pools) {
  std::vector<Planned> planned;
  for (long pool = 0; pool < pools; ++pool) {
    for (const auto& kind : kinds) {
      for (long i = 0; i < kind.jobs; ++i)
        planned.push_back({kind.gap * i, numbered(prefix, pool), numbered(kind.name, i), &kind});
    }
  }
  std::stable_sort(planned.begin(), planned.end(),
                   [](const Planned& a, const Planned& b) { return a.due < b.due; });
  return planned;
}

std::string manifest(const Planned& job) {
  return R"({"apiVersion":"gpupool.dev/v1alpha1","kind":"GpuJob","metadata":{"name":")" + job.name +
         R"("},"spec":{"pool":")" + job.ns + R"(","gpus":)" + std::to_string(job.kind->gpus) +
         R"(,"template":{"metadata":{"annotations":{"bench/run-ms":")" +
         std::to_string(job.kind->runs.count()) +
         R"("}},"spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"worker",)" +
         R"("image":"busybox:1","command":["sh","-c","true"]}]}}}})";
}

// Calls `action` with 0 .. count - 1 from several threads; counts errors.
template <class Action>
int for_each(std::size_t count, const Action& action) {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> errors = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (auto at = next++; at < count; at = next++) {
        if (const auto done = action(at); !done) {
          ++errors;
          std::fprintf(stderr, "bench_replay: %s\n", done.error().message.c_str());
        }
      }
    });
  }
  threads.clear();
  return errors;
}

int submit(bench::Connection& connection, const std::vector<Planned>& planned, Sight& sight) {
  const auto began = connection.clock().now();
  return for_each(planned.size(), [&](std::size_t i) {
    const auto& job = planned[i];
    const auto left = began + job.due - connection.clock().now();
    if (left > base::Duration::zero()) connection.clock().sleep_for(left, {});
    sight.submitted(job);
    return connection.client().create(api::GpuJob::kType, job.ns, manifest(job), {});
  });
}

double seconds(base::Duration time) { return std::chrono::duration<double>(time).count(); }

void show(const std::vector<Kind>& kinds, const std::vector<Planned>& planned, const Sight& sight) {
  bench::Results results("replay");
  auto first = base::SteadyTime::max(), last_submitted = base::SteadyTime(), last = base::SteadyTime();
  std::map<const Kind*, std::pair<bench::Sample, bench::Sample>> samples;
  for (const auto& job : planned) {
    const auto& times = sight.times().at(job.ns + "/" + job.name);
    first = std::min(first, times.submitted);
    last_submitted = std::max(last_submitted, times.submitted);
    last = std::max(last, times.done);
    auto& [leased, done] = samples[job.kind];
    leased.push_back(seconds(times.leased - times.submitted));
    done.push_back(seconds(times.done - times.submitted));
  }
  results.value("jobs succeeded", static_cast<double>(sight.done()), "jobs");
  results.value("first submitted to last one done", seconds(last - first), "s");
  results.value("all submitted after", seconds(last_submitted - first), "s");
  for (const auto& kind : kinds) {
    const auto& [leased, done] = samples[&kind];
    results.sample(std::string(kind.name) + ": submitted to leased", leased, "s");
    results.sample(std::string(kind.name) + ": submitted to done", done, "s");
  }
  results.print();
}

int remove_all(bench::Connection& connection, Sight& sight, std::chrono::seconds limit) {
  const auto jobs = sight.all();
  const auto began = connection.clock().now();
  const auto errors = for_each(jobs.size(), [&](std::size_t i) {
    return connection.client().remove(api::GpuJob::kType, jobs[i]->metadata.key(), {}, {});
  });
  if (errors > 0 || !sight.wait_gone(limit)) return 1;
  bench::Results results("replay");
  results.value("all jobs gone", seconds(connection.clock().now() - began), "s");
  results.print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  bench::Connection connection(arguments.text("kubeconfig"), "bench-replay");
  const std::chrono::seconds limit(arguments.number("limit", 7200));
  const auto nodes = arguments.number("nodes", 20);
  const std::vector<Kind> kinds{
      {"small", arguments.number("small", 350), 1, milliseconds(200), milliseconds(100)},
      {"medium", arguments.number("medium", 100), (nodes + 3) / 4, milliseconds(500), milliseconds(500)},
      {"large", arguments.number("large", 50), nodes, milliseconds(1000), milliseconds(1200)}};
  Sight sight(connection);
  if (arguments.text("end") == "delete") return remove_all(connection, sight, limit);
  const auto planned = plan(kinds, arguments.text("prefix"), arguments.number("pools", 30));
  if (submit(connection, planned, sight) > 0) return 1;
  if (!sight.wait_done(planned.size(), limit)) {
    std::fprintf(stderr, "bench_replay: %zu of %zu jobs have succeeded\n", sight.done(), planned.size());
    return 1;
  }
  show(kinds, planned, sight);
}
