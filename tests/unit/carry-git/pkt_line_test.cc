// SPDX-License-Identifier: Apache-2.0
#include "git/pkt_line.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace gpupool::carry {
namespace {

std::string drawn(const PktLine& packet) {
  switch (packet.kind) {
    case PktLine::Kind::kFlush:
      return "flush";
    case PktLine::Kind::kDelimiter:
      return "delimiter";
    case PktLine::Kind::kEnd:
      return "end";
    case PktLine::Kind::kData:
      break;
  }
  return "data " + std::string(packet.data);
}

// What comes out if the stream comes in these pieces; "broken" at the end if it is none of git.
std::vector<std::string> packets_of(const std::vector<std::string_view>& pieces,
                                    bool* at_boundary = nullptr) {
  std::vector<std::string> seen;
  PktLines packets;
  for (const auto piece : pieces) {
    const auto fed = packets.feed(piece, [&](const PktLine& packet) -> Outcome<void> {
      seen.push_back(drawn(packet));
      return {};
    });
    if (!fed) {
      seen.emplace_back("broken");
      break;
    }
  }
  if (at_boundary != nullptr) *at_boundary = packets.at_boundary();
  return seen;
}

TEST(PktLines, EveryCutGivesTheSamePackets) {
  const std::string stream = pkt_line("packfile\n") + "0001" + pkt_line("") +
                             pkt_line(std::string(300, 'x')) + "0002" + pkt_line("a") + "0000";
  const std::vector<std::string> all = {
      "data packfile\n", "delimiter", "data ", "data " + std::string(300, 'x'), "end", "data a", "flush"};
  const std::string_view whole(stream);
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    EXPECT_EQ(packets_of({whole.substr(0, first), whole.substr(first)}), all) << first;
    for (std::size_t second = first; second <= stream.size(); second += 7) {
      ASSERT_EQ(
          packets_of({whole.substr(0, first), whole.substr(first, second - first), whole.substr(second)}),
          all);
    }
  }
  std::vector<std::string_view> bytes;
  bytes.reserve(stream.size());
  for (std::size_t i = 0; i < stream.size(); ++i) bytes.push_back(whole.substr(i, 1));
  EXPECT_EQ(packets_of(bytes), all);
}

TEST(PktLines, ABeginningIsNoPacket) {
  const std::string stream = pkt_line("text");
  for (std::size_t size = 1; size < stream.size(); ++size) {
    bool at_boundary = true;
    EXPECT_TRUE(packets_of({std::string_view(stream).substr(0, size)}, &at_boundary).empty());
    EXPECT_FALSE(at_boundary) << size;
  }
  bool at_boundary = false;
  EXPECT_EQ(packets_of({stream}, &at_boundary).size(), 1U);
  EXPECT_TRUE(at_boundary);
}

TEST(PktLines, BadLengthsAreRefused) {
  for (const char* bad : {"0003", "<htm", "12g4", "-001", "0x10", "fff1", "ffff", "+010"}) {
    EXPECT_EQ(packets_of({bad}), std::vector<std::string>{"broken"}) << bad;
    EXPECT_EQ(packets_of({std::string_view(bad).substr(0, 3), std::string_view(bad).substr(3)}),
              std::vector<std::string>{"broken"})
        << bad;
  }
}

TEST(PktLines, AFailureEndsTheCall) {
  PktLines packets;
  int seen = 0;
  const auto fed = packets.feed("000000000000", [&](const PktLine& /*packet*/) -> Outcome<void> {
    ++seen;
    return failed(FailureKind::kTooLarge, "enough");
  });
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().message, "enough");
  EXPECT_EQ(seen, 1);
}

RC_GTEST_PROP(PktLines, AnyPacketsInAnyPiecesComeBack, ()) {
  const auto texts = *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
  std::string stream;
  std::vector<std::string> all;
  for (const auto& text : texts) {
    stream += pkt_line(text);
    all.push_back("data " + text);
  }
  const auto size = *rc::gen::inRange<std::size_t>(1, 20);
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin < stream.size(); begin += size)
    pieces.push_back(std::string_view(stream).substr(begin, size));
  RC_ASSERT(packets_of(pieces) == all);
}

}  // namespace
}  // namespace gpupool::carry
