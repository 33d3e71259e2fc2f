// SPDX-License-Identifier: Apache-2.0
// Measures the device plugin on a node with simulated GPUs, as its kubelet sees it:
// bench_plugin [--gpus N (8)] [--slices N (100): of each GPU] [--starts N (10)] [--calls N (20000)]
//   [--threads N (1)].
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "bench/plugin/program.h"
#include "bench/support/arguments.h"
#include "bench/support/results.h"
#include "tests/fake-kubelet/fake_kubelet.h"
#include "tests/fake-kubelet/fake_pod_resources.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace {

using namespace gpupool;
using bench::Program;
using bench::Sample;

struct Size {
  long gpus;
  long slices;
  long all() const { return gpus * slices; }
};

// The folders, driver and kubelet of one node.
struct Site {
  explicit Site(const Size& size) {
    std::ofstream(folder.path() + "/driver.json")
        << R"({"node":"bench","gpus":[{"count":)" << size.gpus << R"(,"model":"NVIDIA A100-SXM4-40GB"}]})";
    std::ofstream(folder.path() + "/plugin.yaml") << "version: v1\ndeviceSplitCount: " << size.slices << "\n";
    kubelet.start();
  }

  std::vector<std::string> command() const {
    return {GPUPOOL_PLUGIN,
            "--no-report",
            "--node-name=bench",
            "--log-level=warning",
            "--kubelet-directory=" + folder.path() + "/kubelet",
            "--state-directory=" + folder.path() + "/state",
            "--nvml-library=" GPUPOOL_FAKE_NVML_LIBRARY,
            "--config=" + folder.path() + "/plugin.yaml",
            "--metrics-bind-address=127.0.0.1:0"};
  }

  const test::TemporaryFolder folder;
  test::FakePodResources pods{folder.path() + "/kubelet/pod-resources/kubelet.sock"};
  test::FakeKubelet kubelet{folder.path() + "/kubelet/device-plugins"};
};

int fail(const Site& site, const char* what) {
  std::fprintf(stderr, "bench_plugin: %s\n%s", what,
               bench::text_of(site.folder.path() + "/plugin.log").c_str());
  return 1;
}

// Starts the plugin repeatedly; the last one is left running. Null if it does not register.
std::unique_ptr<Program> start(const Site& site, const Size& size, int starts, bench::Results& results) {
  Sample registered, listed;
  std::unique_ptr<Program> program;
  for (int i = 0; i < starts; ++i) {
    program.reset();
    site.kubelet.wait([](const auto& kubelet) { return !kubelet.connected(test::kVgpu); });
    const auto before = site.kubelet.registrations().size();
    const auto began = std::chrono::steady_clock::now();
    program = std::make_unique<Program>(site.command(), site.folder.path() + "/plugin.log",
                                        "GPUPOOL_FAKE_NVML=" + site.folder.path() + "/driver.json");
    const bool all = site.kubelet.wait([&](const auto& kubelet) {
      return kubelet.registrations().size() > before &&
             kubelet.healthy(test::kVgpu).size() == static_cast<std::size_t>(size.all());
    });
    if (!all) return nullptr;
    listed.push_back(bench::seconds_since(began) * 1e3);
    const auto when = site.kubelet.registrations()[before].when;
    registered.push_back(std::chrono::duration<double, std::milli>(when - began).count());
  }
  results.sample("start to registered", registered, "ms");
  results.sample("start to all slices listed", listed, "ms");
  return program;
}

// Returns the size of one message of the list in bytes.
double list_bytes(const Site& site) {
  const test::ListStreamReader reader(site.kubelet.client(test::kVgpu));
  reader.wait([](const auto& list) { return list.messages() > 0; });
  v1beta1::ListAndWatchResponse response;
  for (const auto& [id, device] : reader.devices()) *response.add_devices() = device;
  return static_cast<double>(response.ByteSizeLong());
}

// One to three slices of one GPU.
std::vector<std::string> some_ids(const std::vector<std::string>& all, const Size& size,
                                  std::mt19937& random) {
  const auto slices = static_cast<std::size_t>(size.slices);
  const auto gpu = random() % static_cast<std::size_t>(size.gpus);
  const auto count = std::min<std::size_t>(slices, 1 + random() % 3);
  const auto first = gpu * slices + random() % (slices - count + 1);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

struct Measured {
  Sample allocate;
  Sample prefer;
  int failed = 0;
};

Measured call(const Site& site, const Size& size, long calls, unsigned seed) {
  auto client = site.kubelet.client(test::kVgpu);
  std::mt19937 random(seed);
  const auto all = site.kubelet.healthy(test::kVgpu);  // sorted: GPU by GPU
  Measured measured;
  client.options();  // connected
  for (long i = 0; i < calls; ++i) {
    const auto ids = some_ids(all, size, random);
    auto began = std::chrono::steady_clock::now();
    measured.failed += client.allocate(ids).ok() ? 0 : 1;
    measured.allocate.push_back(bench::seconds_since(began) * 1e3);
    if (i % 10 != 0) continue;
    began = std::chrono::steady_clock::now();
    measured.failed += client.prefer(all, {}, 3).ok() ? 0 : 1;
    measured.prefer.push_back(bench::seconds_since(began) * 1e3);
  }
  return measured;
}

Measured call_all(const Site& site, const Size& size, long calls, long threads) {
  std::vector<Measured> parts(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < parts.size(); ++i)
      callers.emplace_back(
          [&, i] { parts[i] = call(site, size, calls / threads, static_cast<unsigned>(i) + 1); });
  }
  Measured all;
  for (const auto& part : parts) {
    all.allocate.insert(all.allocate.end(), part.allocate.begin(), part.allocate.end());
    all.prefer.insert(all.prefer.end(), part.prefer.begin(), part.prefer.end());
    all.failed += part.failed;
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const Size size{arguments.number("gpus", 8), arguments.number("slices", 100)};
  const Site site(size);
  bench::Results results("plugin");
  const auto program = start(site, size, static_cast<int>(arguments.number("starts", 10)), results);
  if (program == nullptr) return fail(site, "the plugin does not register");
  results.value("memory when registered", program->memory_mib("VmRSS"), "MiB");
  results.value("bytes of a list", list_bytes(site), "bytes");
  const auto measured =
      call_all(site, size, arguments.number("calls", 20000), arguments.number("threads", 1));
  if (measured.failed > 0) return fail(site, "calls have failed");
  results.sample("Allocate", measured.allocate, "ms");
  results.sample("GetPreferredAllocation", measured.prefer, "ms");
  results.value("memory at most", program->memory_mib("VmHWM"), "MiB");
  results.print();
}
