// SPDX-License-Identifier: Apache-2.0
#include "worker_questions.h"

#include "api/live_metrics_format.h"
#include "net/ask_all.h"

namespace gpupool {

controllers::AskWorkers ask_over_tcp() {
  namespace live = api::live_metrics;
  return [](const std::vector<controllers::WorkerQuestion>& workers, base::Duration timeout,
            const std::stop_token& stop) {
    std::vector<net::Question> questions;
    questions.reserve(workers.size());
    for (const auto& worker : workers) questions.push_back({worker.address, live::kPort, worker.text});
    return net::ask_all(questions, timeout, live::kMaxAnswerBytes, stop);
  };
}

}  // namespace gpupool
