// SPDX-License-Identifier: Apache-2.0
#include "net/line_splitter.h"

#include <algorithm>

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
using gpupool::net::LineSplitter;

namespace {

struct Cut {
  std::vector<std::string> lines;
  bool failed = false;
};

Cut cut(std::string_view stream, std::size_t max, const std::string& pieces) {
  LineSplitter splitter(max);
  Cut result;
  const auto take = [&](std::string_view line) {
    result.lines.emplace_back(line);
    return true;
  };
  for (std::size_t i = 0; !stream.empty() && !result.failed; ++i) {
    const std::size_t wanted =
        pieces.empty() ? stream.size() : static_cast<unsigned char>(pieces[i % pieces.size()]);
    const auto piece = stream.substr(0, std::max<std::size_t>(1, wanted));
    stream.remove_prefix(piece.size());
    const auto fed = splitter.feed(piece, take);
    if (!fed) gpupool::fuzz::require_explained(fed.error());
    result.failed = !fed;
  }
  return result;
}

}  // namespace

// The longest line, then a line of sizes of pieces, then the stream.
void fuzz_line_splitter(std::string_view input) {
  const std::size_t max = gpupool::fuzz::take_byte(input);
  const std::string pieces = gpupool::fuzz::take_line(input);
  const auto whole = cut(input, max, "");
  const auto parts = cut(input, max, pieces);
  require(whole.failed == parts.failed && whole.lines == parts.lines,
          "pieces of any size give the same lines");

  auto expected = gpupool::fuzz::split(input, '\n');
  const auto rest = expected.back();
  expected.pop_back();
  const auto too_long = [&](const std::string& line) { return line.size() > max; };
  const bool any_too_long = std::any_of(expected.begin(), expected.end(), too_long) || too_long(rest);
  require(whole.failed == any_too_long, "only a line over the limit fails");
  if (any_too_long) return;
  std::erase(expected, "");
  require(whole.lines == expected, "every line that ended is delivered, and no other");
}
