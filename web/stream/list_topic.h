// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "base/clock.h"
#include "kube/client.h"
#include "stream/outbox.h"
#include "stream/topic.h"

namespace gpupool::web {

// Sends a list, then what changes, until stop is requested. After each break the list is sent anew.
// REQUIRES: topic.kind is kTable or kObjects.
void run_list_topic(kube::Client& client, const Topic& topic, Outbox& outbox, base::Clock& clock,
                    const std::stop_token& stop);

}  // namespace gpupool::web
