// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpupool::base {

using Labels = std::map<std::string, std::string>;

// A value that only grows. Like Gauge and Histogram: owned by the Metrics that created it and valid as long
// as that; thread-safe.
class Counter {
 public:
  virtual ~Counter() = default;
  virtual void increment(double by = 1) = 0;
};
class Gauge {
 public:
  virtual ~Gauge() = default;
  virtual void set(double value) = 0;
};
class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void observe(double value) = 0;
};

// The metrics of the process. main creates one and passes it by reference. Thread-safe. Two calls with the
// same name and labels return the same handle.
// REQUIRES: each label has few values; never the name of an object that tenants create.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  Counter& counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  // bounds: upper bounds of the buckets, ascending, in the unit at the end of the metric's name.
  Histogram& histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                       const Labels& labels = {});

  // Returns all metrics in the Prometheus text format, including process_* (CPU seconds, resident bytes, open
  // file descriptors, start time).
  std::string expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::base
