// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/next_step.h"

#include <gtest/gtest.h>

namespace gpupool::logs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

WorkerFacts worker_in(Output output) { return {.known = true, .state = {.output = output}}; }

Open opened(const Step& step) {
  EXPECT_TRUE(std::holds_alternative<Open>(step));
  const auto* open = std::get_if<Open>(&step);
  return open != nullptr ? *open : Open{};
}
bool waits(const Step& step) { return std::holds_alternative<Wait>(step); }
std::string done_with(const Step& step) {
  const auto* done = std::get_if<Done>(&step);
  return done != nullptr ? "done: " + done->note : "not done";
}

TEST(NextStep, WaitsForAContainerThatHasNotBegun) {
  auto facts = worker_in(Output::kNotBegun);
  facts.state.waits_for = "ContainerCreating";
  EXPECT_TRUE(waits(next_step(facts, {}, true)));
  EXPECT_EQ("done: it has not begun: ContainerCreating", done_with(next_step(facts, {}, false)));
  facts.state.pod_over = true;
  EXPECT_EQ("done: ", done_with(next_step(facts, {}, true)));
}

TEST(NextStep, FollowsARunningContainer) {
  const auto open = opened(next_step(worker_in(Output::kRunning), {}, true));
  EXPECT_TRUE(open.follow);
  EXPECT_FALSE(open.previous);
  EXPECT_EQ(milliseconds(0), open.after);
  EXPECT_EQ(seconds(2), open.silence);
}

TEST(NextStep, TheEndOfAStreamIsNotTheEndOfTheLog) {
  const ReaderMemory ended{.last = StreamEnd::kEnded, .brought_new = true};
  EXPECT_TRUE(opened(next_step(worker_in(Output::kRunning), ended, true)).follow);
  const auto last = opened(next_step(worker_in(Output::kEnded), ended, true));
  EXPECT_FALSE(last.follow) << "a log that was opened before the container's end";
  EXPECT_EQ("done: ", done_with(next_step(worker_in(Output::kRunning), ended, false)));
}

TEST(NextStep, ALogIsCompleteWhenAReadAfterTheEndBringsNothingNew) {
  ReaderMemory memory{.last = StreamEnd::kEnded, .after_end = true, .brought_new = true};
  EXPECT_FALSE(opened(next_step(worker_in(Output::kEnded), memory, true)).follow);
  memory.brought_new = false;
  EXPECT_EQ("done: ", done_with(next_step(worker_in(Output::kEnded), memory, true)));
  memory.last = StreamEnd::kCut;
  opened(next_step(worker_in(Output::kEnded), memory, true));
}

TEST(NextStep, TheOutputOfAHeldWorkerIsThatOfThePreviousContainer) {
  const ReaderMemory memory{.last = StreamEnd::kEnded, .brought_new = true};
  EXPECT_TRUE(opened(next_step(worker_in(Output::kPrevious), memory, true)).previous);
  EXPECT_EQ("done: its node has dropped its log",
            done_with(next_step(worker_in(Output::kForgotten), memory, true)));
}

TEST(NextStep, TheLogOfAWorkerThatWillHoldMayBeThatOfTheNextContainer) {
  WorkerFacts facts = worker_in(Output::kEnded);
  facts.state.restarts = true;
  const ReaderMemory read{.last = StreamEnd::kEnded, .after_end = true};
  EXPECT_TRUE(waits(next_step(facts, read, true)));
  facts.state.output = Output::kPrevious;
  EXPECT_TRUE(opened(next_step(facts, read, true)).previous);
  ReaderMemory previous{
      .last = StreamEnd::kEnded, .previous = true, .after_end = true, .read_after_end = true};
  EXPECT_EQ("done: ", done_with(next_step(facts, previous, true)));
  previous.last = StreamEnd::kNoLog;
  EXPECT_EQ("done: ", done_with(next_step(facts, previous, true))) << "it was read before it was dropped";
  facts.state.output = Output::kForgotten;
  EXPECT_EQ("done: ", done_with(next_step(facts, previous, true)));
}

TEST(NextStep, AContainerThatRepeatsItsResultIsNotRead) {
  const ReaderMemory memory{.last = StreamEnd::kStopped, .repeats = true};
  EXPECT_TRUE(waits(next_step(worker_in(Output::kRunning), memory, true)));
  EXPECT_TRUE(opened(next_step(worker_in(Output::kRunning), memory, false)).previous);
  EXPECT_TRUE(opened(next_step(worker_in(Output::kEnded), memory, true)).previous);
}

TEST(NextStep, ASilentLogIsOpenedAgainLaterAndLater) {
  ReaderMemory memory{.last = StreamEnd::kSilent};
  for (const int expected : {2, 4, 8, 16, 30, 30}) {
    const auto open = opened(next_step(worker_in(Output::kRunning), memory, true));
    EXPECT_EQ(seconds(expected), open.silence);
    EXPECT_EQ(milliseconds(0), open.after);
    ++memory.fruitless;
  }
}

TEST(NextStep, TriesForEverOnlyWhenItFollows) {
  ReaderMemory memory{.last = StreamEnd::kCut, .fruitless = 4, .problem = "connection refused"};
  EXPECT_EQ(milliseconds(500), opened(next_step(worker_in(Output::kRunning), memory, true)).after);
  opened(next_step(worker_in(Output::kRunning), memory, false));
  memory.fruitless = 5;
  EXPECT_EQ("done: its last lines may be missing: connection refused",
            done_with(next_step(worker_in(Output::kRunning), memory, false)));
  memory.fruitless = 1000;
  EXPECT_EQ(milliseconds(500), opened(next_step(worker_in(Output::kRunning), memory, true)).after);
  memory.last = StreamEnd::kEnded;
  EXPECT_EQ(seconds(2), opened(next_step(worker_in(Output::kRunning), memory, true)).after);
}

TEST(NextStep, ANodeThatDoesNotKnowThePodIsAskedAgain) {
  const ReaderMemory memory{.last = StreamEnd::kEnded, .after_end = true, .not_found = true, .fruitless = 1};
  EXPECT_EQ(milliseconds(100), opened(next_step(worker_in(Output::kEnded), memory, true)).after);
  const ReaderMemory first{.not_found = true, .fruitless = 2};
  EXPECT_EQ(milliseconds(200), opened(next_step(worker_in(Output::kRunning), first, true)).after);
}

TEST(NextStep, APodThatIsGoneIsCompleteOnlyIfItsStreamHadAnEnd) {
  WorkerFacts facts = worker_in(Output::kRunning);
  facts.gone = true;
  EXPECT_EQ("done: ", done_with(next_step(facts, {.last = StreamEnd::kEnded, .ended = true}, true)));
  EXPECT_EQ("done: ", done_with(next_step(facts, {.last = StreamEnd::kStopped, .ended = true}, true)))
      << "only the next container, which holds the result, was met since";
  EXPECT_EQ("done: its last lines may be missing: reset",
            done_with(next_step(facts, {.last = StreamEnd::kCut, .problem = "reset"}, true)));
  EXPECT_EQ("done: its last lines may be missing", done_with(next_step(facts, {}, true)));
  const ReaderMemory broken{.last = StreamEnd::kEnded, .after_end = true, .ended = true, .broken = true};
  EXPECT_EQ("done: its last lines may be missing", done_with(next_step(facts, broken, true)));
  facts.state.output = Output::kNotBegun;
  EXPECT_EQ("done: ", done_with(next_step(facts, {}, true)));
}

TEST(NextStep, ALogThatTheNodeHasDroppedIsNotTriedAgain) {
  ReaderMemory memory{.last = StreamEnd::kNoLog, .previous = true, .after_end = true, .problem = "not found"};
  EXPECT_EQ("done: its node has dropped its log: not found",
            done_with(next_step(worker_in(Output::kPrevious), memory, true)));
  memory.ended = true;
  EXPECT_EQ("done: ", done_with(next_step(worker_in(Output::kPrevious), memory, true)));
  memory.broken = true;
  EXPECT_EQ("done: its node has dropped its log: not found",
            done_with(next_step(worker_in(Output::kPrevious), memory, true)));
}

TEST(NextStep, ALogThatIsNotThereMayBeThatOfTheNextContainer) {
  WorkerFacts facts = worker_in(Output::kEnded);
  facts.state.restarts = true;
  const ReaderMemory memory{.last = StreamEnd::kNoLog, .after_end = true};
  EXPECT_TRUE(waits(next_step(facts, memory, true)));
  facts.state.output = Output::kPrevious;
  EXPECT_TRUE(opened(next_step(facts, memory, true)).previous);
}

TEST(EndOf, ErrorsOfALogRequest) {
  using base::ErrorCode;
  EXPECT_EQ(StreamEnd::kSilent, end_of({.code = ErrorCode::kTimeout, .message = ""}, false));
  EXPECT_EQ(StreamEnd::kCut, end_of({.code = ErrorCode::kTimeout, .message = "", .http_status = 504}, false));
  EXPECT_EQ(StreamEnd::kWaiting, end_of({.code = ErrorCode::kBadRequest, .message = ""}, false));
  EXPECT_EQ(StreamEnd::kNoLog, end_of({.code = ErrorCode::kBadRequest, .message = ""}, true));
  EXPECT_EQ(StreamEnd::kCut, end_of({.code = ErrorCode::kTransport, .message = ""}, true));
}

}  // namespace
}  // namespace gpupool::logs
