// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/enforcement/region_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace gpupool::test {
namespace {

constexpr unsigned kDevice = 0;

limiter::Limits limits_of(const RegionProcess::Plan& plan) {
  limiter::Limits limits{};
  limits.source = limiter::Limits::Source::kFile;
  limits.count = static_cast<unsigned>(plan.limits.size());
  for (unsigned i = 0; i < limits.count; ++i) {
    limits.devices[i].limited = true;
    limits.devices[i].bytes = plan.limits[i];
  }
  return limits;
}

bool carry_out(limiter::Ledger& ledger, const RegionProcess::Plan& plan, std::uint64_t& ticket) {
  using limiter::Class;
  using limiter::Reservation;
  if (plan.memory > 0) {
    if (ledger.reserve(kDevice, plan.memory) != Reservation::kGranted) return false;
    ledger.commit(kDevice, Class::kMemory, plan.memory, plan.memory);
  }
  if (plan.pending > 0 && ledger.reserve(kDevice, plan.pending) != Reservation::kGranted) return false;
  if (plan.refused_bytes > 0 && ledger.reserve(kDevice, plan.refused_bytes) != Reservation::kRefused)
    return false;
  for (const auto& name : plan.unknown) ledger.unknown_name(name.c_str());
  if (plan.waits_for > 0) ticket = ledger.begin_wait(kDevice, plan.waits_for);
  return plan.waits_for == 0 || ticket != 0;
}

[[noreturn]] void live(const std::string& region, const RegionProcess::Plan& plan, int ask, int answer) {
  static limiter::Ledger ledger;
  std::uint64_t ticket = 0;
  char said = ledger.attach(region.c_str(), limits_of(plan)) && carry_out(ledger, plan, ticket) ? 'y' : 'n';
  while (::write(answer, &said, 1) == 1 && ::read(ask, &said, 1) == 1) {
    said = ticket != 0 && ledger.wait_refused(kDevice, ticket) ? 'y' : 'n';
  }
  ::_exit(0);
}

}  // namespace

RegionProcess::RegionProcess(const std::string& region, const Plan& plan) {
  std::array<int, 2> asked{};
  std::array<int, 2> answered{};
  if (::pipe2(asked.data(), O_CLOEXEC) != 0 || ::pipe2(answered.data(), O_CLOEXEC) != 0) return;
  ask_ = asked[1];
  answer_ = answered[0];
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(ask_);
    ::close(answer_);
    live(region, plan, asked[0], answered[1]);
  }
  ::close(asked[0]);
  ::close(answered[1]);
  char said = 'n';
  ready_ = ::read(answer_, &said, 1) == 1 && said == 'y';
}

RegionProcess::~RegionProcess() { kill(); }

void RegionProcess::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(ask_);
    ::close(answer_);
  }
  pid_ = -1;
}

bool RegionProcess::wait_refused() {
  char said = '?';
  return ::write(ask_, &said, 1) == 1 && ::read(answer_, &said, 1) == 1 && said == 'y';
}

}  // namespace gpupool::test
