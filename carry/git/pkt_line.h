// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "failure/failure.h"

namespace gpupool::carry {

// One packet of git's pkt-line format.
struct PktLine {
  enum class Kind { kData, kFlush, kDelimiter, kEnd };
  Kind kind = Kind::kData;
  std::string_view data;  // good until the next packet
};

// "0008text" for "text". REQUIRES: at most 65,516 bytes. Pure.
std::string pkt_line(std::string_view data);

// Cuts a stream into packets. Holds at most one of them, 64 KiB. Not thread-safe.
class PktLines {
 public:
  // Calls `on_packet` for each whole packet, which returns an Outcome<void>; its failure ends the call and is
  // returned. kInvalid: these bytes are no pkt-lines.
  template <class OnPacket>
  Outcome<void> feed(std::string_view bytes, OnPacket on_packet) {
    while (!bytes.empty()) {
      PktLine packet;
      auto whole = take(bytes, packet);
      if (!whole) return tl::unexpected(whole.error());
      if (!*whole) return {};
      if (auto done = on_packet(packet); !done) return done;
    }
    return {};
  }
  // True between two packets.
  bool at_boundary() const { return held_ == 0; }

 private:
  // Takes bytes of the front; true once a packet is whole.
  Outcome<bool> take(std::string_view& bytes, PktLine& packet);
  void hold(std::string_view& bytes, std::size_t up_to);

  std::string buffer_;  // the beginning of a packet, of which held_ bytes are good
  std::size_t held_ = 0;
};

}  // namespace gpupool::carry
