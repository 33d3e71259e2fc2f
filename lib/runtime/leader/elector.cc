// SPDX-License-Identifier: Apache-2.0
#include "runtime/leader/elector.h"

#include <algorithm>
#include <utility>

namespace gpupool::runtime {
namespace {

constexpr base::Duration kShortestLimit = std::chrono::seconds(1);
constexpr base::Duration kReleaseLimit = std::chrono::milliseconds(1500);

}  // namespace

Elector::Elector(kube::Client& client, api::ObjectKey lease, std::string identity, ElectionTimes times,
                 DataVersion data, base::Clock& clock, base::Metrics& metrics, const base::Log& log)
    : client_(client),
      lease_(std::move(lease)),
      identity_(std::move(identity)),
      times_(times),
      data_(std::move(data)),
      clock_(clock),
      log_(log.with({{"lease", lease_.to_string()}, {"identity", identity_}})),
      master_(metrics.gauge("leader_election_master_status",
                            "1 where this program leads, 0 where it does not", {{"name", lease_.name}})),
      election_(identity_, times) {
  master_.set(0);
}

void Elector::run(std::stop_token stop) {
  log_.info("Standing for election");
  while (!stop.stop_requested() && !refused_) {
    const auto action = election_.next(clock_.now(), clock_.wall());
    publish();
    if (std::holds_alternative<Election::Lost>(action)) {
      log_.error("Leadership was lost", {{"holder", election_.holder()}});
      return;
    }
    if (const auto* wait = std::get_if<Election::Wait>(&action)) {
      clock_.sleep_for(wait->until - clock_.now(), stop);
    } else if (const auto* read = std::get_if<Election::Read>(&action)) {
      perform(*read, stop);
    } else if (const auto* create = std::get_if<Election::Create>(&action)) {
      perform(*create, stop);
    } else if (const auto* write = std::get_if<Election::Write>(&action)) {
      perform(*write, stop);
    }
    publish();
  }
}

void Elector::perform(const Election::Read& /*read*/, const std::stop_token& stop) {
  const auto found = kube::get<ElectionLease>(client_, lease_, stop);
  if (found) {
    failing_ = false;
    if (const auto stored = stored_version(*found, data_.annotation); stored > data_.version)
      return refuse(stored);
    election_.on_read(clock_.now(), std::optional(*found));
  } else if (found.error().code == base::ErrorCode::kNotFound) {
    election_.on_read(clock_.now(), std::optional<ElectionLease>());
  } else {
    if (!stop.stop_requested()) note(found.error());
    election_.on_read(clock_.now(), tl::unexpected<base::Error>(found.error()));
  }
}

void Elector::perform(const Election::Create& create, const std::stop_token& stop) {
  const auto sent = clock_.now();
  const auto made = kube::decode<ElectionLease>(client_.create(
      ElectionLease::kType, lease_.ns, election_lease_body(lease_, create.record, data_), stop));
  if (!made && !stop.stop_requested()) note(made.error());
  election_.on_written(sent, clock_.now(), made);
}

void Elector::perform(const Election::Write& write, const std::stop_token& stop) {
  const auto sent = clock_.now();
  const auto written = kube::decode<ElectionLease>(
      client_.patch(ElectionLease::kType, lease_, kube::PatchType::kMerge,
                    election_lease_patch(write.resource_version, write.record, data_), "", stop));
  if (written) {
    failing_ = false;
  } else if (!stop.stop_requested() && written.error().code != base::ErrorCode::kConflict) {
    note(written.error());
  }
  election_.on_written(sent, clock_.now(), written);
}

void Elector::give_up() {
  const auto write = election_.release(clock_.wall());
  publish();
  if (!write) return;
  giving_up_.store(true);
  auto version = write->resource_version;
  for (int tries = 0; tries < 2; ++tries) {
    const auto done = client_.patch(ElectionLease::kType, lease_, kube::PatchType::kMerge,
                                    election_lease_patch(version, write->record, data_), "", {});
    if (done) {
      log_.info("Released the lease");
      return;
    }
    if (done.error().code != base::ErrorCode::kConflict) {
      note(done.error());
      return;
    }
    // The conflict may come from an own renewal whose answer was lost, or from another holder.
    const auto found = kube::get<ElectionLease>(client_, lease_, {});
    if (!found || found->spec.holder != identity_) return;
    version = found->metadata.resource_version;
  }
}

void Elector::refuse(std::int64_t stored) {
  refused_ = true;
  log_.error(data_.refusal, {{"stored", std::to_string(stored)}, {"known", std::to_string(data_.version)}});
}

std::optional<base::Duration> Elector::term_left() const {
  const auto until = leads_until_.load();
  const auto now = clock_.now();
  if (until <= now) return std::nullopt;
  return until - now;
}

base::Duration Elector::request_limit() const {
  if (giving_up_.load()) return kReleaseLimit;
  const auto limit = std::max(kShortestLimit, times_.renew_deadline / 2);
  const auto left = term_left();
  return left ? std::min(limit, *left) : limit;
}

// Logs the first failure of a row as a warning and the others at level debug.
void Elector::note(const base::Error& error) {
  if (std::exchange(failing_, true)) {
    log_.debug("Election still fails", {{"error", error.message}});
  } else {
    log_.warning("Election call failed; trying again", {{"error", error.message}});
  }
}

void Elector::publish() {
  const auto until = election_.leads_until();
  leads_until_.store(until.value_or(base::SteadyTime::min()));
  if (until.has_value() != led_) {
    led_ = until.has_value();
    master_.set(led_ ? 1 : 0);
    if (led_) log_.info("Became the leader");
  }
  if (holder_ != election_.holder()) {
    holder_ = election_.holder();
    if (!led_ && !holder_.empty()) log_.info("Another program leads", {{"holder", holder_}});
  }
}

}  // namespace gpupool::runtime
