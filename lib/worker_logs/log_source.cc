// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/log_source.h"

#include <utility>

namespace gpupool::logs {

LogSource::LogSource(Identity identity, ReaderOptions options, WorkerFacts facts, const FetchLog& fetch,
                     LineHub& hub, base::Clock& clock)
    : identity_(std::move(identity)),
      pod_name_(options.pod.name),
      hub_(hub),
      log_(hub.open()),
      told_(std::move(facts)),
      facts_(clock),
      reader_(std::move(options), fetch, facts_, *this, clock) {
  facts_.set(told_);
  thread_ = std::jthread([this](const std::stop_token& stop) { read(stop); });
}

void LogSource::tell(const WorkerFacts& facts) {
  if (facts == told_) return;
  told_ = facts;
  facts_.set(facts);
}

void LogSource::tell_gone(bool job_over) {
  WorkerFacts facts = told_;
  facts.gone = true;
  facts.job_over = job_over;
  tell(facts);
}

bool LogSource::on_line(LogLine line) { return hub_.add(log_, std::move(line), stop_); }

void LogSource::on_gap() { gap_ = true; }

void LogSource::read(const std::stop_token& stop) {
  stop_ = stop;
  result_ = reader_.run(stop);
  done_ = true;
  hub_.close(log_);
}

}  // namespace gpupool::logs
