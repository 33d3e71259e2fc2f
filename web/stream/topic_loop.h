// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>

#include "base/clock.h"
#include "base/result.h"
#include "stream/outbox.h"
#include "stream/topic.h"

namespace gpupool::web {

// Calls `once`, which lists and then watches, again and again until stop is requested. An error is told to
// the tab. Then it is tried again: after 1 to 30 s if the server is away, after 30 s if the visitor may not
// read this (a right may be granted meanwhile), never if the visitor is not known (401): the tab asks for a
// new token then.
void repeat(const Topic& topic, Outbox& outbox, base::Clock& clock,
            const std::function<base::Result<void>()>& once, const std::stop_token& stop);

}  // namespace gpupool::web
