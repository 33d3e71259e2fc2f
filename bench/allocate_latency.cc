// How long a kubelet waits for Allocate and GetPreferredAllocation on a node with 8 GPUs of 100 slices each:
// build/bin/allocate_latency [CALLS [THREADS]]. Over the socket, limits files written to a folder in /tmp.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kubelet/plugin_server.h"
#include "tests/fake-kubelet/plugin_client.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace {

using namespace gpupool;
using Times = std::vector<double>;  // milliseconds

constexpr int kGpus = 8;
constexpr int kSlices = 100;

double since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

void print(const char* what, Times times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::printf("%-24s %zu calls  p50 %.3f ms  p90 %.3f ms  p99 %.3f ms  p99.9 %.3f ms  max %.3f ms\n", what,
              times.size(), at(0.5), at(0.9), at(0.99), at(0.999), times.back());
}

// One to three slices of one GPU.
std::vector<std::string> some_ids(std::mt19937& random) {
  const auto gpu = "GPU-" + std::to_string(random() % kGpus) + "::";
  const auto first = random() % (kSlices - 3);
  std::vector<std::string> ids;
  for (unsigned i = 0; i <= random() % 3; ++i) ids.push_back(gpu + std::to_string(first + i));
  return ids;
}

struct Measured {
  Times allocate;
  Times prefer;
  int failed = 0;
};

Measured call(const std::string& socket, int calls, unsigned seed) {
  test::PluginClient client(socket);
  std::mt19937 random(seed);
  std::vector<std::string> all;
  const auto table = test::vgpu_table(kGpus, kSlices);
  for (const auto& slice : table.resources.front().slices) all.push_back(slice.id);
  Measured measured;
  client.options();  // connected
  for (int i = 0; i < calls; ++i) {
    const auto ids = some_ids(random);
    auto began = std::chrono::steady_clock::now();
    measured.failed += client.allocate(ids).ok() ? 0 : 1;
    measured.allocate.push_back(since(began));
    if (i % 10 != 0) continue;
    began = std::chrono::steady_clock::now();
    measured.failed += client.prefer(all, {}, 3).ok() ? 0 : 1;
    measured.prefer.push_back(since(began));
  }
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 20000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  test::Node node;
  std::filesystem::create_directories(node.plugins);
  node.board.publish(test::vgpu_table(kGpus, kSlices));
  const auto socket = node.plugins + "/vgpu.sock";
  const auto server = kubelet::PluginServer::start(node.offering, test::kVgpu, socket, [] {});
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return EXIT_FAILURE;
  }
  std::vector<Measured> measured(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      callers.emplace_back(
          [&, i] { measured[i] = call(socket, calls / threads, static_cast<unsigned>(i) + 1); });
    }
  }
  Measured all;
  for (auto& one : measured) {
    all.allocate.insert(all.allocate.end(), one.allocate.begin(), one.allocate.end());
    all.prefer.insert(all.prefer.end(), one.prefer.begin(), one.prefer.end());
    all.failed += one.failed;
  }
  print("Allocate", all.allocate);
  print("GetPreferredAllocation", all.prefer);
  std::printf("%d calls failed\n", all.failed);
  return all.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
