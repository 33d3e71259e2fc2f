// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/line_assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "base/rfc3339.h"

namespace gpupool::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kStamp[] = "2026-11-24T02:00:00.000000001Z";

struct Assembled {
  std::vector<LogLine> lines;
  std::vector<std::string> notes;
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const LogLine& line : lines) all.push_back(line.text);
    return all;
  }
};

Assembled assemble(const std::vector<std::string>& pieces, bool finished = false, bool keep_returns = false) {
  Assembled all;
  LineAssembler assembler({.on_line =
                               [&](LogLine line) {
                                 all.lines.push_back(std::move(line));
                                 return true;
                               },
                           .on_note = [&](std::string_view note) { all.notes.emplace_back(note); }},
                          keep_returns);
  for (const std::string& piece : pieces) assembler.feed(piece);
  assembler.finish(finished);
  return all;
}

std::string stamped(const std::string& text) { return std::string(kStamp) + " " + text; }

TEST(LineAssembler, SplitsTimeAndText) {
  const auto got = assemble({stamped("epoch 1\n") + stamped("\n") + stamped("a b  c\n")});
  EXPECT_THAT(got.texts(), ElementsAre("epoch 1", "", "a b  c"));
  EXPECT_EQ(kStamp, got.lines[0].stamp);
  EXPECT_EQ(*base::parse_rfc3339(kStamp), got.lines[0].time);
  EXPECT_NE(got.lines[0].id, got.lines[1].id);
}

TEST(LineAssembler, AnUnfinishedLineCountsOnlyIfTheContainerHasEnded) {
  EXPECT_THAT(assemble({stamped("whole\n") + stamped("hal")}).texts(), ElementsAre("whole"));
  EXPECT_THAT(assemble({stamped("whole\n") + stamped("hal")}, true).texts(), ElementsAre("whole", "hal"));
  EXPECT_THAT(assemble({"2026-11-24T02"}, false).notes, IsEmpty());
}

TEST(LineAssembler, JoinsPiecesOfALongLine) {
  const std::string piece(16384, 'x');
  const std::string old_kubelet = stamped(piece) + stamped(piece) + stamped("end\n") + stamped("next\n");
  const std::string new_kubelet = stamped(piece + piece + "end\n") + stamped("next\n");
  for (const auto& text : {old_kubelet, new_kubelet}) {
    const auto got = assemble({text});
    EXPECT_THAT(got.texts(), ElementsAre(piece + piece + "end", "next"));
  }
  EXPECT_EQ(assemble({old_kubelet}).lines[0].id, assemble({new_kubelet}).lines[0].id);
}

TEST(LineAssembler, ALineThatEndsAtThePieceIsOneLine) {
  const std::string piece(8192, 'x');
  EXPECT_THAT(assemble({stamped(piece) + "\n" + stamped("next\n")}).texts(), ElementsAre(piece, "next"));
  EXPECT_THAT(assemble({stamped(piece) + "2026 is no time\n"}).texts(),
              ElementsAre(piece + "2026 is no time"));
  EXPECT_THAT(assemble({stamped(piece) + stamped("\n")}).texts(), ElementsAre(piece));
}

TEST(LineAssembler, ATimeOfThePastIsText) {
  const std::string piece(16384, 'x');
  const std::string text = "2025-01-01T00:00:00.000000000Z is what it printed";
  EXPECT_THAT(assemble({stamped(piece) + text + "\n"}).texts(), ElementsAre(piece + text));
}

TEST(LineAssembler, CutsALongLineAndCountsTheRest) {
  const std::string text(LineAssembler::kMaxBytes + 1000, 'y');
  const auto got = assemble({stamped(text + "\n") + stamped("next\n")});
  EXPECT_EQ(text.substr(0, LineAssembler::kMaxBytes), got.lines[0].text);
  EXPECT_EQ(1000U, got.lines[0].cut);
  EXPECT_EQ("next", got.lines[1].text);
  EXPECT_EQ(0U, got.lines[1].cut);
  const auto other = assemble({stamped(text + "!\n")});
  EXPECT_NE(other.lines[0].id, got.lines[0].id) << "lines that differ in what is cut are different lines";
}

TEST(LineAssembler, AProgressBarKeepsItsLastState) {
  EXPECT_THAT(assemble({stamped("10%\r50%\r100%\n")}).texts(), ElementsAre("100%"));
  EXPECT_THAT(assemble({stamped("10%\r"), "99%\r\n"}).texts(), ElementsAre("99%"));
  EXPECT_THAT(assemble({stamped("dos\r\n")}).texts(), ElementsAre("dos"));
  EXPECT_THAT(assemble({stamped("10%\r50%\r\n")}, false, true).texts(), ElementsAre("10%\r50%\r"));
  const std::string long_bar = std::string(70'000, 'a') + "\rdone";
  const auto got = assemble({stamped(long_bar + "\n")});
  EXPECT_THAT(got.texts(), ElementsAre("done"));
  EXPECT_EQ(0U, got.lines[0].cut);
}

TEST(LineAssembler, WhatHasNoTimeComesFromTheKubelet) {
  const std::string note = "failed to try resolving symlinks in path \"/var/log/pods/x.log\"";
  const auto got = assemble({stamped("a\n") + note + "\n" + stamped("b\n") + "oneword\n"});
  EXPECT_THAT(got.texts(), ElementsAre("a", "b"));
  EXPECT_THAT(got.notes, ElementsAre(note, "oneword"));
  EXPECT_THAT(assemble({"unable to retrieve container logs"}, true).notes,
              ElementsAre("unable to retrieve container logs"));
  EXPECT_EQ(1024U, assemble({std::string(5000, 'n') + "\n"}).notes.at(0).size());
}

TEST(LineAssembler, EndsWhenTheReceiverWantsNoMore) {
  int lines = 0;
  LineAssembler assembler({.on_line = [&](const LogLine&) { return ++lines < 2; }, .on_note = [](auto) {}},
                          false);
  EXPECT_FALSE(assembler.feed(stamped("a\n") + stamped("b\n") + stamped("c\n")));
  EXPECT_EQ(2, lines);
}

RC_GTEST_PROP(LineAssemblerProperty, CutsBetweenBytesChangeNothing, ()) {
  std::string log;
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    const int kind = *rc::gen::inRange(0, 4);
    if (kind == 0) log += "a note of the kubelet\n";
    if (kind == 1)
      log += stamped(*rc::gen::element<std::string>("", "x", "a\rb", "a\r\n", "\r\r", "  z ") + "\n");
    if (kind == 2) log += stamped(std::string(16384, 'p')) + stamped(std::string(8192, 'q')) + stamped("r\n");
    if (kind == 3) log += stamped(std::string(*rc::gen::inRange<std::size_t>(65'000, 70'000), 'l') + "\n");
  }
  const auto whole = assemble({log}, true);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < log.size();) {
    const auto length = *rc::gen::element<std::size_t>(1, 2, 7, 31, 4096, 9000, 20'000);
    pieces.push_back(log.substr(at, length));
    at += length;
  }
  const auto cut = assemble(pieces, true);
  RC_ASSERT(whole.texts() == cut.texts());
  RC_ASSERT(whole.notes == cut.notes);
  for (std::size_t i = 0; i < whole.lines.size(); ++i) RC_ASSERT(whole.lines[i].id == cut.lines[i].id);
}

TEST(RepeatedResult, IsKnownByItsWords) {
  EXPECT_TRUE(
      is_repeated_result("gpupool-launch: the command has ended with exit code 3 and is not run again; "
                         "its output is in the logs of the container's first start"));
  EXPECT_TRUE(
      is_repeated_result("gpupool-launch: an earlier start was interrupted; the command is not run again"));
  EXPECT_FALSE(is_repeated_result("gpupool-launch: waiting for rank 0"));
  EXPECT_FALSE(is_repeated_result("an earlier start was interrupted; the command is not run again"));
}

}  // namespace
}  // namespace gpupool::logs
