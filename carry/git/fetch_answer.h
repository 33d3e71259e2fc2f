// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "failure/failure.h"
#include "git/pkt_line.h"

namespace gpupool::carry {

// Reads the answer to a fetch of protocol 2, and passes on the bytes of its pack. Not thread-safe.
class FetchAnswer {
 public:
  using OnPack = std::function<Outcome<void>(std::string_view)>;
  // commit, url: for messages. A failure of `on_pack` ends all.
  FetchAnswer(std::string commit, std::string url, OnPack on_pack)
      : commit_(std::move(commit)), url_(std::move(url)), on_pack_(std::move(on_pack)) {}

  // kNotFound: the server has no such commit; kInvalid: it says another error, or speaks no git;
  // kUnavailable: it broke down within the pack.
  Outcome<void> feed(std::string_view bytes);
  // True once the whole pack was there.
  bool whole() const { return state_ == State::kAfter; }

 private:
  enum class State { kSection, kOtherSection, kPack, kAfter };
  Outcome<void> packet(const PktLine& packet);
  Outcome<void> section(std::string_view name);
  Outcome<void> band(std::string_view data);
  tl::unexpected<Failure> refused(std::string_view why) const;

  std::string commit_;
  std::string url_;
  OnPack on_pack_;
  PktLines packets_;
  State state_ = State::kSection;
};

}  // namespace gpupool::carry
