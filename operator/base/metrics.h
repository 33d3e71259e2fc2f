#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpupool::base {

using Labels = std::map<std::string, std::string>;

// Handles live as long as the Metrics that made them. Thread-safe.
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

// The process's metrics. Made once in main and passed by reference; thread-safe. Asking twice for one name
// and one set of labels gives the same handle. Labels must be bounded: never the name of an object.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  Counter& counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  // bounds: upper bounds of the buckets, ascending, in the unit that the name ends in.
  Histogram& histogram(const std::string& name, const std::string& help, const std::vector<double>& bounds,
                       const Labels& labels = {});

  // The Prometheus text format, with process_* (CPU seconds, resident bytes, open fds, start time) added.
  std::string expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::base
