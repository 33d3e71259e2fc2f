// SPDX-License-Identifier: Apache-2.0
// Submits one-GPU jobs and measures the time of each stage:
// bench_burst --kubeconfig FILE --namespace NS --pool POOL [--jobs N (100)] [--threads N (8)]
//   [--gap-ms N (0): time between two submissions, for an idle operator] [--limit S (600)]
//   [--end finish|done|delete|stay (finish): jobs end on their own, and are deleted then; or are left; or all
//   are deleted when the last one runs; or are left running] [--slices N: slices of each job, in a sharing
//   pool].
#include <atomic>
#include <cstdio>
#include <thread>

#include "bench/cluster/stopwatch.h"
#include "bench/support/arguments.h"
#include "bench/support/machine.h"

namespace {

using namespace gpupool;
using bench::Stopwatch;

struct Burst {
  std::string ns;
  std::string pool;
  std::string slice;  // spec.slice
  int jobs;
  int threads;
  std::chrono::milliseconds gap;
  std::chrono::seconds limit;
};

std::string name_of(int i) { return "job-" + std::to_string(100000 + i); }

std::string manifest(const Burst& burst, int i) {
  return R"({"apiVersion":"gpupool.dev/v1alpha1","kind":"GpuJob","metadata":{"name":")" + name_of(i) +
         R"("},"spec":{"pool":")" + burst.pool + R"(",)" + burst.slice +
         R"("template":{"spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"worker",)" +
         R"("image":"busybox:1","command":["sh","-c","true"]}]}}}})";
}

// Calls `action` with 0 .. jobs - 1 from several threads; counts errors.
template <class Action>
int for_each_job(const Burst& burst, const Action& action) {
  std::atomic<int> next = 0;
  std::atomic<int> errors = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < burst.threads; ++i) {
      threads.emplace_back([&] {
        for (int job = next++; job < burst.jobs; job = next++) {
          const auto done = action(job);
          if (done) continue;
          ++errors;
          std::fprintf(stderr, "bench_burst: %s\n", done.error().message.c_str());
        }
      });
    }
  }
  return errors;
}

int submit(bench::Connection& connection, const Burst& burst, Stopwatch& watch) {
  return for_each_job(burst, [&](int i) {
    watch.note(name_of(i), Stopwatch::kSubmitted);
    auto made = connection.client().create(api::GpuJob::kType, burst.ns, manifest(burst, i), {});
    if (burst.gap.count() > 0) connection.clock().sleep_for(burst.gap, {});
    return made;
  });
}

int remove(bench::Connection& connection, const Burst& burst, Stopwatch& watch) {
  return for_each_job(burst, [&](int i) {
    watch.note(name_of(i), Stopwatch::kDeleted);
    return connection.client().remove(api::GpuJob::kType, {burst.ns, name_of(i)}, {}, {});
  });
}

int fail(const char* what) {
  std::fprintf(stderr, "bench_burst: waited for %s in vain\n", what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  bench::Connection connection(arguments.text("kubeconfig"), "bench-burst");
  const auto slices = arguments.text("slices");
  const Burst burst{arguments.text("namespace"),
                    arguments.text("pool"),
                    slices.empty() ? "" : R"("slice":{"count":)" + slices + "},",
                    static_cast<int>(arguments.number("jobs", 100)),
                    static_cast<int>(arguments.number("threads", 8)),
                    std::chrono::milliseconds(arguments.number("gap-ms", 0)),
                    std::chrono::seconds(arguments.number("limit", 600))};
  const auto end = arguments.text("end", "finish");
  const bool finish = end == "finish" || end == "done", waiting = end == "wait";
  const auto until = finish ? Stopwatch::kDone : waiting ? Stopwatch::kAnswered : Stopwatch::kRunning;
  const auto all = static_cast<std::size_t>(burst.jobs);
  Stopwatch watch(connection, burst.ns);
  bench::Results results("burst");
  watch.start(end == "done");
  const bench::BusyCores burst_cores;
  if (submit(connection, burst, watch) > 0) return 1;
  if (!watch.wait_for(until, all, burst.limit)) return fail("the jobs");
  if (end == "stay" || waiting) {
    results.value("all jobs", watch.span(Stopwatch::kSubmitted, until), "s");
    return results.print(), 0;
  }
  if (end == "done") {
    results.value("all jobs", watch.span(Stopwatch::kSubmitted, Stopwatch::kDone), "s");
    return results.print(), 0;
  }
  results.sample("submitted to child seen", watch.between(Stopwatch::kSubmitted, Stopwatch::kChild), "s");
  if (finish) {
    results.value("all jobs", watch.span(Stopwatch::kSubmitted, Stopwatch::kDone), "s");
    results.value("cores busy until then", burst_cores.since(), "cores");
    results.sample("worker ended to node free", watch.between(Stopwatch::kEnded, Stopwatch::kFree), "s");
  }
  const bench::BusyCores deletion_cores;
  if (remove(connection, burst, watch) > 0) return 1;
  if (!watch.wait_for(Stopwatch::kGone, all, burst.limit)) return fail("the jobs to be gone");
  if (!finish) {
    results.sample("deleted to node free", watch.between(Stopwatch::kDeleted, Stopwatch::kFree), "s");
    results.value("all nodes free", watch.span(Stopwatch::kDeleted, Stopwatch::kFree), "s");
    results.sample("worker ended to node free", watch.between(Stopwatch::kEnded, Stopwatch::kFree), "s");
  }
  results.value("all jobs gone", watch.span(Stopwatch::kDeleted, Stopwatch::kGone), "s");
  results.value("cores busy until they are gone", deletion_cores.since(), "cores");
  results.print();
}
