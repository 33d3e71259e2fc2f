// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "failure/failure.h"
#include "transfer/protocol.h"

namespace gpupool::carry {

// The failure that an answer other than 2xx means: kDenied (401, 403), kNotFound (404, 410), kUnavailable
// (408, 425, 429 and 5xx but 501 and 505: worth another try), else kInvalid. shown: the URL for messages.
// Pure.
Failure refusal(const HttpAnswer& answer, const std::string& shown, const Protocol& protocol);

// How long the header Retry-After asks to wait, at most 60 s. wall: now.
std::optional<std::chrono::milliseconds> retry_after(const HttpAnswer& answer,
                                                     std::chrono::system_clock::time_point wall);

// At most 200 bytes, without control characters and not ending within a character. Pure.
std::string for_message(std::string_view bytes);

}  // namespace gpupool::carry
