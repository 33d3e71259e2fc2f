// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "base/clock.h"
#include "kube/client.h"
#include "stream/outbox.h"
#include "stream/topic.h"
#include "worker_logs/kept_logs.h"

namespace gpupool::web {

// Sends the lines of a job's workers, as `kubectl gpupool logs --follow` shows them, until the job is over or
// stop is requested. A tab that reads slowly slows the reading of logs, so no line is left out. REQUIRES:
// topic.kind is kLog.
//
// kept: has what pods that are gone have printed; null: nothing has.
void run_log_topic(kube::Client& client, const logs::KeptLogs* kept, const Topic& topic, Outbox& outbox,
                   base::Clock& clock, const std::stop_token& stop);

}  // namespace gpupool::web
