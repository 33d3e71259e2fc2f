// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <utility>

#include "base/mutex.h"
#include "base/process_stats.h"

namespace gpupool::base {

namespace {

class CounterHandle final : public Counter {
 public:
  explicit CounterHandle(prometheus::Counter& counter) : counter_(counter) {}
  void increment(double by) override { counter_.Increment(by); }

 private:
  prometheus::Counter& counter_;
};

class GaugeHandle final : public Gauge {
 public:
  explicit GaugeHandle(prometheus::Gauge& gauge) : gauge_(gauge) {}
  void set(double value) override { gauge_.Set(value); }

 private:
  prometheus::Gauge& gauge_;
};

class HistogramHandle final : public Histogram {
 public:
  explicit HistogramHandle(prometheus::Histogram& histogram) : histogram_(histogram) {}
  void observe(double value) override { histogram_.Observe(value); }

 private:
  prometheus::Histogram& histogram_;
};

// The metrics of one kind, by name and labels. The owner locks.
template <class Handle>
class Handles {
 public:
  template <class Make>
  Handle& get(const std::string& name, const Labels& labels, const Make& make) {
    auto& handle = handles_[{name, labels}];
    if (!handle) handle = make();
    return *handle;
  }

 private:
  std::map<std::pair<std::string, Labels>, std::unique_ptr<Handle>> handles_;
};

void add_process_metric(std::vector<prometheus::MetricFamily>& families, prometheus::MetricType type,
                        const char* name, const char* help, double value) {
  prometheus::ClientMetric metric;
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  families.push_back({name, help, type, {std::move(metric)}});
}

// The names and help texts are those of Prometheus' own client libraries.
void add_process_metrics(std::vector<prometheus::MetricFamily>& families) {
  const ProcessStats stats = read_process_stats();
  const auto add = [&](prometheus::MetricType type, const char* name, const char* help, double value) {
    add_process_metric(families, type, name, help, value);
  };
  constexpr auto kGauge = prometheus::MetricType::Gauge;
  add(prometheus::MetricType::Counter, "process_cpu_seconds_total",
      "Total user and system CPU time spent in seconds.", stats.cpu_seconds);
  add(kGauge, "process_resident_memory_bytes", "Resident memory size in bytes.", stats.resident_bytes);
  add(kGauge, "process_virtual_memory_bytes", "Virtual memory size in bytes.", stats.virtual_bytes);
  add(kGauge, "process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
      stats.start_time_seconds);
  add(kGauge, "process_open_fds", "Number of open file descriptors.", stats.open_fds);
  add(kGauge, "process_max_fds", "Maximum number of open file descriptors.", stats.max_fds);
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;  // thread-safe
  Mutex mutex;
  Handles<CounterHandle> counters GPUPOOL_GUARDED_BY(mutex);
  Handles<GaugeHandle> gauges GPUPOOL_GUARDED_BY(mutex);
  Handles<HistogramHandle> histograms GPUPOOL_GUARDED_BY(mutex);
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter& Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  const MutexLock lock(impl_->mutex);
  return impl_->counters.get(name, labels, [&] {
    auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
    return std::make_unique<CounterHandle>(family.Add(labels));
  });
}

Gauge& Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  const MutexLock lock(impl_->mutex);
  return impl_->gauges.get(name, labels, [&] {
    auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
    return std::make_unique<GaugeHandle>(family.Add(labels));
  });
}

Histogram& Metrics::histogram(const std::string& name, const std::string& help,
                              const std::vector<double>& bounds, const Labels& labels) {
  const MutexLock lock(impl_->mutex);
  return impl_->histograms.get(name, labels, [&] {
    auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
    return std::make_unique<HistogramHandle>(family.Add(labels, bounds));
  });
}

std::string Metrics::expose() const {
  auto families = impl_->registry.Collect();
  add_process_metrics(families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace gpupool::base
