// SPDX-License-Identifier: Apache-2.0
#include "launcher/clean_text.h"

#include <algorithm>

#include "launcher/tail_buffer.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace launcher = gpupool::launcher;

namespace {

void require_clean(std::string_view text) {
  while (!text.empty()) {
    const auto length = launcher::utf8_length(text);
    require(length > 0, "all of it is UTF-8");
    const auto first = static_cast<unsigned char>(text.front());
    require((first >= 0x20 || first == '\n' || first == '\t') && first != 0x7f, "no control characters");
    text.remove_prefix(length);
  }
}

}  // namespace

// What a user's program printed, in pieces on two streams.
void fuzz_clean_text(std::string_view input) {
  constexpr std::size_t kCapacity = 64;
  const auto clean = launcher::clean_text(input);
  require_clean(clean);
  require(clean.size() <= 3 * input.size(), "no byte becomes more than one replacement");
  require(launcher::clean_text(clean) == clean, "twice is as once");

  launcher::TailBuffer tail(kCapacity);
  std::size_t stream = 0;
  for (const auto& piece : gpupool::fuzz::split(input, '\x01')) tail.append(stream++ % 2, piece);
  require(tail.text().size() <= 2 * kCapacity + 2 * 2 * kCapacity + 2, "memory is bounded");
}
