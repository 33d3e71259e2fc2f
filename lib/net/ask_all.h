// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpupool::net {

// A text to send to an address, which answers and closes the connection.
struct Question {
  std::string address;  // IPv4 or IPv6, no name
  std::uint16_t port = 0;
  std::string text;
};

// Sends all texts over TCP, at most kMostAtOnce at a time, and returns the answers in the same order. Blocks
// for at most `timeout` for all together. An answer of more than `most_bytes` is an error (kParse); so is a
// peer that does not answer in time (kTimeout) or cannot be reached (kTransport); the message names the
// address. Thread-safe.
inline constexpr std::size_t kMostAtOnce = 256;
std::vector<base::Result<std::string>> ask_all(const std::vector<Question>& questions, base::Duration timeout,
                                               std::size_t most_bytes, const std::stop_token& stop);

}  // namespace gpupool::net
