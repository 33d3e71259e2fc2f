#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "runtime/leader/election.h"
#include "runtime/manager/leader_gate.h"

namespace gpupool::runtime {

// Stands for election and renews what it won. leading() and the two limits are thread-safe.
class Elector final : public LeaderGate {
 public:
  // data_version: of what this program stores. Where a leader of a newer one has been, run() returns at once.
  // client: of its own, so that no other call delays a renewal; its requests obey request_limit(). clock: one
  // that runs on while the machine is suspended. Everything referenced must outlive the elector.
  Elector(kube::Client& client, api::ObjectKey lease, std::string identity, ElectionTimes times,
          std::int64_t data_version, base::Clock& clock, base::Metrics& metrics, const base::Log& log);

  std::string name() const override { return "leader election"; }
  void run(std::stop_token stop) override;
  bool leading() const override { return term_left().has_value(); }
  void give_up() override;

  // How long a write may take that is sent now; nothing: it must not be sent. Positive.
  std::optional<base::Duration> term_left() const;
  // How long a call of the election itself may take: never so long that one lost answer costs the leadership.
  base::Duration request_limit() const;

 private:
  void perform(const Election::Read& read, const std::stop_token& stop);
  void perform(const Election::Create& create, const std::stop_token& stop);
  void perform(const Election::Write& write, const std::stop_token& stop);
  void refuse(std::int64_t stored);
  void note(const base::Error& error);
  void publish();

  kube::Client& client_;
  api::ObjectKey lease_;
  std::string identity_;
  ElectionTimes times_;
  std::int64_t data_version_;
  base::Clock& clock_;
  base::Log log_;
  base::Gauge& master_;
  Election election_;
  bool led_ = false;
  bool failing_ = false;
  bool refused_ = false;
  std::string holder_;
  std::atomic<bool> giving_up_{false};
  std::atomic<base::SteadyTime> leads_until_{base::SteadyTime::min()};
};

}  // namespace gpupool::runtime
