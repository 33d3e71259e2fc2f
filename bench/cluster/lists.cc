// SPDX-License-Identifier: Apache-2.0
// Reads once what the operator lists when it starts, all kinds at the same time, and keeps nothing. Measures
// the API server's share of that time: bench_lists --kubeconfig FILE.
#include <atomic>
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/names.h"
#include "bench/cluster/connection.h"
#include "bench/support/arguments.h"
#include "bench/support/results.h"

namespace {

using namespace gpupool;

struct Asked {
  const api::ResourceType& type;
  const char* label_selector;
};

constexpr Asked kAsked[] = {
    {api::GpuPool::kType, ""},
    {api::GpuJob::kType, ""},
    {api::Node::kType, ""},
    {api::GpuNode::kType, ""},
    {api::Pod::kType, api::kJobUidLabel},
    {api::StatefulSet::kType, api::kJobUidLabel},
    {api::BatchJob::kType, api::kJobUidLabel},
    {api::Service::kType, api::kJobUidLabel},
};

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  bench::Connection connection(arguments.text("kubeconfig"), "bench-lists");
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> objects = 0;
  std::atomic<bool> failed = false;
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::jthread> threads;
  for (const auto& asked : kAsked) {
    threads.emplace_back([&] {
      const auto count = [&](std::string_view item) {
        bytes += item.size();
        ++objects;
      };
      const kube::ListOptions options{.label_selector = asked.label_selector, .resource_version = "0"};
      const auto listed = connection.client().list_items(asked.type, "", options, count, {});
      if (listed) return;
      std::fprintf(stderr, "%s\n", listed.error().message.c_str());
      failed = true;
    });
  }
  threads.clear();
  if (failed) return 1;
  bench::Results results("lists");
  results.value("seconds", bench::seconds_since(began), "s");
  results.value("bytes", static_cast<double>(bytes), "bytes");
  results.value("objects", static_cast<double>(objects), "objects");
  results.print();
}
