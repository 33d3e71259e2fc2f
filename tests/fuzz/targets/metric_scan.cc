// SPDX-License-Identifier: Apache-2.0
#include "launcher/metric_scan.h"

#include <algorithm>

#include "launcher/metric_reader.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace launcher = gpupool::launcher;

// What a user's program printed, in pieces on two streams, of which rank 0's launcher reads numbers.
void fuzz_metric_scan(std::string_view input) {
  constexpr std::size_t kLimit = 200;
  launcher::Metrics metrics({"loss", "val.acc", "step"}, "step");
  launcher::MetricReader reader(metrics);
  std::size_t stream = 0;
  for (const auto& piece : gpupool::fuzz::split(input, '\x01')) reader.append(stream++ % 2, piece);
  reader.finish();
  launcher::scan_json_line(input, metrics);
  const auto texts = metrics.texts(kLimit);
  require(texts.size() <= 3, "only names that were asked for");
  std::size_t size = 0;
  for (const auto& text : texts) {
    size += text.size() + 3;
    require(std::ranges::count(text, ' ') == 8, "nine words");
    require(std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }), "no control characters");
  }
  require(size <= kLimit, "within the limit");
  require(metrics.others().size() <= 8, "few other names");
}
