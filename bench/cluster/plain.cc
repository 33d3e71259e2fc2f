// SPDX-License-Identifier: Apache-2.0
// Submits plain batch/v1 Jobs of one pod each, the yardstick for what gpupool makes of them, and measures
// until all are complete. Leaves them: bench_plain --kubeconfig FILE --namespace NS [--jobs N (100)]
// [--threads N (8)] [--limit S (600)].
#include <atomic>
#include <chrono>
#include <cstdio>
#include <semaphore>
#include <thread>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "bench/cluster/connection.h"
#include "bench/support/arguments.h"
#include "bench/support/results.h"
#include "runtime/cache/informer.h"

namespace {

using namespace gpupool;

// The label makes bench_player run the pod.
std::string manifest(int i) {
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job-)" + std::to_string(i) +
         R"("},"spec":{"backoffLimit":0,"template":{"metadata":{"labels":{")" + api::kJobUidLabel +
         R"(":"plain"}},"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":1,)" +
         R"("containers":[{"name":"worker","image":"busybox:1","command":["sh","-c","true"]}]}}}})";
}

int submit(bench::Connection& connection, const std::string& ns, int jobs, int threads) {
  std::atomic<int> next = 0;
  std::atomic<int> errors = 0;
  {
    std::vector<std::jthread> submitters;
    for (int i = 0; i < threads; ++i) {
      submitters.emplace_back([&] {
        for (int job = next++; job < jobs; job = next++) {
          const auto made = connection.client().create(api::BatchJob::kType, ns, manifest(job), {});
          if (made) continue;
          ++errors;
          std::fprintf(stderr, "bench_plain: %s\n", made.error().message.c_str());
        }
      });
    }
  }
  return errors;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  bench::Connection connection(arguments.text("kubeconfig"), "bench-plain");
  const auto ns = arguments.text("namespace");
  const auto jobs = static_cast<int>(arguments.number("jobs", 100));
  std::atomic<int> succeeded = 0;
  std::binary_semaphore all_succeeded(0);
  runtime::ReflectorOptions options;
  options.ns = ns;
  runtime::Informer<api::BatchJob> informer(connection.client(), options, connection.clock(),
                                            connection.metrics(), connection.log());
  informer.on_change([&](const runtime::Change<api::BatchJob>& change) {
    const bool had = change.before && change.before->status.succeeded > 0;
    const bool has = change.after && change.after->status.succeeded > 0;
    if (has && !had && ++succeeded == jobs) all_succeeded.release();
  });
  auto running = connection.fill({&informer.reflector()});
  const auto begin = std::chrono::steady_clock::now();
  const bool submitted = submit(connection, ns, jobs, static_cast<int>(arguments.number("threads", 8))) == 0;
  const std::chrono::seconds limit(arguments.number("limit", 600));
  const bool done = submitted && all_succeeded.try_acquire_for(limit);
  bench::Results results("plain");
  results.value("all jobs", bench::seconds_since(begin), "s");
  for (auto& thread : running) thread.request_stop();
  if (done) results.print();
  return done ? 0 : 1;
}
