// SPDX-License-Identifier: Apache-2.0
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
#include "runtime/leader/election_lease.h"
#include "runtime/manager/leader_gate.h"

namespace gpupool::runtime {

// Stands for election, and renews the term while it leads. run() is called on the manager's thread for it.
// leading(), term_left() and request_limit() are thread-safe; give_up() is called after run() has returned.
class Elector final : public LeaderGate {
 public:
  // data: the version that this program stores; if a leader with a newer version has been there, run()
  // returns at once. client: used by nothing else, so that no other call delays a renewal; its requests obey
  // request_limit(). clock: one that advances while the machine is suspended. REQUIRES: everything referenced
  // outlives the elector.
  Elector(kube::Client& client, api::ObjectKey lease, std::string identity, ElectionTimes times,
          DataVersion data, base::Clock& clock, base::Metrics& metrics, const base::Log& log);

  std::string name() const override { return "leader election"; }
  void run(std::stop_token stop) override;
  bool leading() const override { return term_left().has_value(); }
  void give_up() override;

  // The longest time (> 0) that a write may take if it is sent now; nullopt: it must not be sent.
  std::optional<base::Duration> term_left() const;
  // The longest time that a call of the election may take, so short that one lost answer does not end the
  // term.
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
  DataVersion data_;
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
