// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "ingest/connection.h"
#include "ingest/hello.h"
#include "ingest/rank_table.h"

namespace gpupool::keeper {

// Bytes that one rank may send in a row, and for each second after that. Its launcher is told up to which
// position it may send; it drops what it cannot keep, and counts it. Who sends more is not read from for a
// while.
struct Rate {
  double bytes_per_second = 256.0 * 1024;
  double burst = 8.0 * 1024 * 1024;
};

// One connection of a launcher, and how far it has come.
struct Writer {
  enum class State { kHello, kAuth, kOpen, kEnding, kClosing };
  // A message that could not be stored, because the disk was full.
  struct Stuck {
    api::log_push::Message type;
    std::string payload;
  };

  Writer(base::UniqueFd socket, base::SteadyTime now, const Rate& rate)
      : connection(std::move(socket)), since(now), tokens(rate.burst), refilled(now) {}

  bool authenticated() const { return state == State::kOpen || state == State::kEnding; }
  const RankKey& key() const { return rank_key; }
  // Whether messages may be read now.
  bool reads() const { return !stuck && !paused_until; }

  // Takes so many bytes of what is allowed, and pauses the writer if that was far too much.
  void spend(std::size_t bytes, const Rate& rate, base::SteadyTime now);
  // How many bytes are allowed now.
  std::uint64_t allowed(const Rate& rate, base::SteadyTime now);

  Connection connection;
  State state = State::kHello;
  base::SteadyTime since;  // of the connection, or of the state kClosing
  Hello hello = {};
  RankKey rank_key = {};
  std::string nonce = {};
  double tokens;
  base::SteadyTime refilled;
  std::optional<base::SteadyTime> paused_until = std::nullopt;
  std::optional<Stuck> stuck = std::nullopt;
  std::uint64_t acked = 0;    // position
  std::uint64_t granted = 0;  // position up to which it may send
  std::uint32_t events = 0;   // that epoll waits for
};

}  // namespace gpupool::keeper
