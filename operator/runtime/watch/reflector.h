#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "runtime/manager/runnable.h"
#include "runtime/watch/watcher.h"

namespace gpupool::runtime {

// Receives one kind's stream; called on the reflector's thread only. Decoding happens behind it, so that the
// reflector's own code is not a template. A line or item that does not decode is counted and skipped by the
// reflector; it must not stop the others.
class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;
  // Keeps an object of a list aside until the whole list is there.
  virtual base::Result<void> item(std::string_view text) = 0;
  // The list is complete: swap it in. It may be older than what was there before.
  virtual void commit() = 0;
  // The list broke off: forget its items.
  virtual void abandon() = 0;
  // An ADDED, MODIFIED or DELETED event line; returns the object's resourceVersion.
  virtual base::Result<std::string> event(std::string_view type, std::string_view line) = 0;
};

struct ReflectorOptions {
  std::string ns = {};  // empty: all
  std::string label_selector = {};
  std::string field_selector = {};
};

// Drives a Watcher on a thread of its own: one kind, one connection, forever.
class Reflector final : public Runnable {
 public:
  // References must outlive it.
  Reflector(kube::Client& client, const api::ResourceType& type, ReflectorOptions options,
            ReflectorSink& sink, base::Clock& clock, base::Metrics& metrics, const base::Log& log);

  std::string name() const override;
  void run(std::stop_token stop) override;
  bool synced() const { return synced_.load(); }  // the first collection was committed

 private:
  void list(Watcher& watcher, const Watcher::DoList& request, const std::stop_token& stop);
  void watch(Watcher& watcher, const Watcher::DoWatch& request, const std::stop_token& stop);
  // False: the stream is over.
  void probe(Watcher& watcher, const std::stop_token& stop);
  bool line(Watcher& watcher, std::string_view text);
  bool object_line(Watcher& watcher, std::string_view type, std::string_view text);
  bool unreadable(Watcher& watcher, const base::Error& error);
  void count_broken(const base::Error& error);
  void note_failure(std::string_view what, const base::Error& error);
  void note_success();

  kube::Client& client_;
  api::ResourceType type_;
  ReflectorOptions options_;
  ReflectorSink& sink_;
  base::Clock& clock_;
  base::Log log_;
  base::Counter& restarts_;
  base::Counter& lists_;
  base::Counter& decode_errors_;
  std::optional<base::ErrorCode> failing_;  // logged already
  std::atomic<bool> synced_{false};
};

}  // namespace gpupool::runtime
