// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "kube/client.h"
#include "net/http_server.h"
#include "stream/topic.h"

namespace gpupool::web {

// Sends one tab all its topics, as lines of JSON, until the tab is gone or the server stops. Each topic has a
// thread. An empty line of JSON ("ping") every 15 s finds a tab that is gone. Blocks. REQUIRES: the client
// acts with the rights of the tab's visitor.
void serve_tab(kube::Client& client, const std::vector<Topic>& topics, base::Clock& clock,
               net::ResponseStream& stream);

}  // namespace gpupool::web
