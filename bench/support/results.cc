// SPDX-License-Identifier: Apache-2.0
#include "bench/support/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/json.h"

namespace gpupool::bench {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", std::isfinite(value) ? value : 0.0);
  return text;
}

std::string pair(const char* key, double value) { return ",\"" + std::string(key) + "\":" + number(value); }

std::string head(const std::string& name, const std::string& unit) {
  return "{\"name\":" + base::json::quote(name) + ",\"unit\":" + base::json::quote(unit);
}

}  // namespace

double quantile(Sample sample, double part) {
  if (sample.empty()) return 0;
  std::sort(sample.begin(), sample.end());
  return sample[static_cast<std::size_t>(std::lround(part * static_cast<double>(sample.size() - 1)))];
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void Results::value(const std::string& name, double value, const std::string& unit) {
  entries_.push_back(head(name, unit) + pair("value", value) + "}");
}

void Results::sample(const std::string& name, const Sample& sample, const std::string& unit) {
  entries_.push_back(head(name, unit) + pair("value", quantile(sample, 0.5)) +
                     pair("p99", quantile(sample, 0.99)) + pair("p999", quantile(sample, 0.999)) +
                     pair("min", quantile(sample, 0)) + pair("max", quantile(sample, 1)) +
                     pair("count", static_cast<double>(sample.size())) + "}");
}

void Results::print() const {
  std::printf("{\"benchmark\":%s,\"results\":[", base::json::quote(benchmark_).c_str());
  for (std::size_t i = 0; i < entries_.size(); ++i)
    std::printf("%s%s", i == 0 ? "" : ",", entries_[i].c_str());
  std::printf("]}\n");
}

}  // namespace gpupool::bench
