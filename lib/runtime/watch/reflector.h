// SPDX-License-Identifier: Apache-2.0
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

// Receives the list and the events of one kind, on the reflector's thread. It decodes them, so that Reflector
// is not a template. If a line or item does not decode, the reflector counts and skips it, and continues.
class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;
  // Keeps an object of a list until the list is complete.
  virtual base::Result<void> item(std::string_view text) = 0;
  // The list is complete: replaces the stored objects. The list may be older than what was stored.
  virtual void commit() = 0;
  // The list failed: drops its items.
  virtual void abandon() = 0;
  // Applies an ADDED, MODIFIED or DELETED event. Returns the object's resourceVersion.
  virtual base::Result<std::string> event(std::string_view type, std::string_view line) = 0;
  // Everything up to this resourceVersion has been passed on.
  virtual void reached(const std::string& /*version*/) {}
};

struct ReflectorOptions {
  std::string ns = {};  // empty: all
  std::string label_selector = {};
  std::string field_selector = {};
};

// Lists and watches one kind until it is stopped: carries out the actions of a Watcher and passes what
// arrives to a ReflectorSink. Runs on its own thread, with one connection. synced() is thread-safe.
class Reflector final : public Runnable {
 public:
  // REQUIRES: everything referenced outlives the reflector.
  Reflector(kube::Client& client, const api::ResourceType& type, ReflectorOptions options,
            ReflectorSink& sink, base::Clock& clock, base::Metrics& metrics, const base::Log& log);

  std::string name() const override;
  void run(std::stop_token stop) override;
  bool synced() const { return synced_.load(); }  // true once the first list is committed

 private:
  void list(Watcher& watcher, const Watcher::DoList& request, const std::stop_token& stop);
  void watch(Watcher& watcher, const Watcher::DoWatch& request, const std::stop_token& stop);
  void probe(Watcher& watcher, const std::stop_token& stop);
  // False: the watch is over.
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
  std::optional<base::ErrorCode> failing_;  // the error that was already logged
  std::atomic<bool> synced_{false};
};

}  // namespace gpupool::runtime
