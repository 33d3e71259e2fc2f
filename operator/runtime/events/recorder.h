#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

// The object an event is about.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  api::ObjectKey key;
  std::string uid;
  std::string resource_version;
};

enum class EventType { kNormal, kWarning };

// Tells the story in `kubectl describe`. Events are events.k8s.io/v1 and best effort: they never block or fail a reconcile. The same
// event again becomes a series (after client-go's tools/events): one create, one patch at the second time, then at most one patch per
// 30 min. At most 1000 wait; more are dropped and counted. Thread-safe.
class EventRecorder final : public Runnable {
 public:
  EventRecorder(kube::Client& client, std::string controller, std::string instance, base::Clock& clock,
                base::Metrics& metrics, base::Log log);

  // reason: CamelCase; action: what the controller did, CamelCase; note: for people, cut at 1 KiB.
  void record(const ObjectReference& regarding, EventType type, const std::string& reason, const std::string& action,
              const std::string& note);

  std::string name() const override { return "events"; }
  // On stop, sends what is queued for at most 2 s.
  void run(std::stop_token stop) override;

 private:
  struct Event;
  struct Series;
  kube::Client& client_;
  std::string controller_;
  std::string instance_;
  base::Clock& clock_;
  base::Metrics& metrics_;
  base::Log log_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
};

}  // namespace gpupool::runtime
