// SPDX-License-Identifier: Apache-2.0
// Decodes recorded watch events as the operator does, and with other parsers: bench_decode DIRECTORY
// [--smoke]. DIRECTORY contains an event of each kind that the operator watches.
#include <simdjson.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "bench/support/allocations.h"
#include "bench/support/instructions.h"
#include "bench/support/results.h"
#include "runtime/cache/store.h"
#include "runtime/cache/watch_event.h"

namespace {

using namespace gpupool;
using bench::Results;

// Takes every value and keeps none.
struct Ignore : nlohmann::json_sax<nlohmann::json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }
};

struct Measure {
  Results& results;
  const std::string& kind;
  const std::string& line;
  int rounds;

  // Megabytes per second, the best of five runs, because disturbances only slow down; and allocations per
  // event.
  template <class Read>
  void operator()(const std::string& reader, const Read& read) const {
    if (!read()) results.value(kind + ", " + reader + ": refused", 1, "error");
    const auto before = bench::heap().calls;
    read();
    results.value(kind + ", " + reader + ": allocations an event",
                  static_cast<double>(bench::heap().calls - before), "allocations");
    double best = 0;
    for (int i = 0; i < 5; ++i) {
      const auto began = std::chrono::steady_clock::now();
      for (int round = 0; round < rounds; ++round) read();
      best = std::max(best, static_cast<double>(line.size()) * rounds / bench::seconds_since(began) / 1e6);
    }
    results.value(kind + ", " + reader, best, "MB/s");
  }
};

template <class K>
void readers(Results& results, const std::string& kind, const std::string& line, bool smoke) {
  const Measure measure{results, kind, line, smoke ? 20 : 2000};
  results.value(kind + ": bytes of an event", static_cast<double>(line.size()), "bytes");
  measure("gpupool", [&] { return base::json::read<runtime::WatchEvent<K>>(line).has_value(); });
  measure("nlohmann DOM", [&] { return !nlohmann::json::parse(line, nullptr, false).is_discarded(); });
  measure("nlohmann SAX", [&] {
    Ignore ignore;
    return nlohmann::json::sax_parse(line, &ignore);
  });
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(line);
  measure("simdjson DOM", [&] { return parser.parse(padded).error() == simdjson::SUCCESS; });
}

std::string read_line(const std::string& directory, const std::string& kind) {
  std::ifstream file(directory + "/" + kind + ".json");
  std::string line;
  std::getline(file, line);
  return line;
}

// Measures the memory of an object in a cache, with its key and without index entries.
template <class K>
void cached(Results& results, const std::string& kind, const std::string& directory, bool smoke) {
  const int count = smoke ? 1000 : 10000;
  const auto line = read_line(directory, kind);
  if (!base::json::read<runtime::WatchEvent<K>>(line)) {
    results.value(kind + ": refused", 1, "error");
    return;
  }
  runtime::Store<K> store;
  runtime::StoreWriter<K> writer(store);
  const auto before = bench::heap().live;
  for (int i = 0; i < count; ++i) {
    auto object = base::json::read<runtime::WatchEvent<K>>(line)->object;
    object.metadata.name += "-" + std::to_string(100000 + i);
    writer.apply(std::move(object));
  }
  results.value(kind + ": bytes of a cached one", static_cast<double>(bench::heap().live - before) / count,
                "bytes");
}

template <class K>
void all(Results& results, const std::string& kind, const std::string& directory, bool smoke) {
  const auto line = read_line(directory, kind);
  if (bench::counting()) {
    bench::count_pass(kind + " event read", [&] { base::json::read<runtime::WatchEvent<K>>(line); });
    return;
  }
  readers<K>(results, kind, line, smoke);
  cached<K>(results, kind, directory, smoke);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool smoke = argc > 2 && std::strcmp(argv[2], "--smoke") == 0;
  Results results("decode");
  all<api::Pod>(results, "pod", argv[1], smoke);
  all<api::Node>(results, "node", argv[1], smoke);
  all<api::BatchJob>(results, "job", argv[1], smoke);
  all<api::GpuJob>(results, "gpujob", argv[1], smoke);
  if (!bench::counting()) {
    cached<api::StatefulSet>(results, "statefulset", argv[1], smoke);
    cached<api::Service>(results, "service", argv[1], smoke);
    cached<api::GpuNode>(results, "gpunode", argv[1], smoke);
    cached<api::GpuPool>(results, "gpupool", argv[1], smoke);
  }
  results.print();
}
