// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/rank_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "api/worker_result_format.h"
#include "tests/unit/cli-logs/played_log.h"
#include "tests/unit/kube/jumping_clock.h"

namespace gpupool::logs {
namespace {

using base::ErrorCode;
using std::chrono::microseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

const base::WallTime kBegin{seconds(1'767'323'045)};
const std::string kRepeated =
    "gpupool-launch: the command has ended with exit code 0" + std::string(api::worker_result::kRepeats);

struct Collected final : LineSink {
  bool on_line(LogLine line) override {
    texts.push_back(std::move(line.text));
    return true;
  }
  void on_gap() override { gaps.push_back(texts.size()); }
  std::vector<std::string> texts;
  std::vector<std::size_t> gaps;
};

WorkerFacts reader_facts(Output output) { return {.known = true, .state = {.output = output}}; }

class RankReaderTest : public ::testing::Test {
 protected:
  base::Result<std::string> read(const FetchLog& fetch, bool follow = true) {
    RankReader reader({.pod = {"lab", "resnet-1-0"}, .container = "train", .follow = follow}, fetch, facts_,
                      sink_, clock_);
    return reader.run({});
  }
  void print(int ms, const std::string& text) { log_.print({kBegin + std::chrono::milliseconds(ms), text}); }

  test::JumpingClock clock_;
  FactsBox facts_{clock_};
  Collected sink_;
  test::PlayedLog log_;
  std::vector<kube::LogOptions> asked_;
};

TEST_F(RankReaderTest, GoesOnAfterABreakWithoutRepeating) {
  print(0, "a");
  print(1200, "b");
  print(1200, "b");
  facts_.set(reader_facts(Output::kRunning));
  const auto note =
      read([&](const auto&, const auto& options, const auto& on_piece, auto) -> base::Result<void> {
        asked_.push_back(options);
        const auto text = log_.served(options);
        if (asked_.size() == 1) {
          on_piece(text.substr(0, text.size() - 3));  // the last line is not complete
          print(2500, "c");
          facts_.set(reader_facts(Output::kEnded));
          return base::fail(ErrorCode::kTransport, "reset");
        }
        on_piece(text);
        return {};
      });
  ASSERT_TRUE(note) << note.error().message;
  EXPECT_EQ("", *note);
  EXPECT_THAT(sink_.texts, ElementsAre("a", "b", "b", "c"));
  EXPECT_THAT(sink_.gaps, ElementsAre());
  ASSERT_EQ(3U, asked_.size()) << "one more read proves that nothing is missing";
  EXPECT_TRUE(asked_[0].follow);
  EXPECT_FALSE(asked_[1].follow);
  EXPECT_EQ(kBegin, asked_[1].since);
}

TEST_F(RankReaderTest, ReadsTheContainerBeforeTheOneThatHolds) {
  print(0, "a");
  print(10, "b");
  facts_.set(reader_facts(Output::kRunning));
  int calls = 0;
  const auto note =
      read([&](const auto&, const auto& options, const auto& on_piece, auto) -> base::Result<void> {
        if (options.previous) {
          on_piece(log_.served(options));
          return {};
        }
        if (++calls == 1) {
          const auto text = log_.served(options);
          on_piece(text.substr(0, text.find('\n') + 1));
          return base::fail(ErrorCode::kTransport, "reset");
        }
        facts_.set(reader_facts(Output::kPrevious));
        on_piece(test::PlayedLog::stamp(kBegin + seconds(1)) + " " + kRepeated + "\n");
        return {};
      });
  ASSERT_TRUE(note);
  EXPECT_EQ("", *note);
  EXPECT_THAT(sink_.texts, ElementsAre("a", "b"));
}

TEST_F(RankReaderTest, SaysWhenTheKubeletHasRotatedTheLog) {
  print(0, "a");
  facts_.set(reader_facts(Output::kRunning));
  const auto note =
      read([&](const auto&, const auto& options, const auto& on_piece, auto) -> base::Result<void> {
        on_piece(log_.served(options));
        if (log_.size() == 1) {
          print(100, "lost");
          print(200, "c");
          log_.rotate(2);
          facts_.set(reader_facts(Output::kEnded));
        }
        return {};
      });
  EXPECT_THAT(sink_.texts, ElementsAre("a", "c"));
  EXPECT_THAT(sink_.gaps, ElementsAre(1U));
}

TEST_F(RankReaderTest, AnErrorOfTheKubeletIsNoLine) {
  facts_.set(reader_facts(Output::kEnded));
  const auto note = read([&](const auto&, const auto&, const auto& on_piece, auto) -> base::Result<void> {
    on_piece("unable to retrieve container logs for containerd://1234");
    return {};
  });
  EXPECT_EQ("its node has dropped its log: unable to retrieve container logs for containerd://1234", *note);
  EXPECT_TRUE(sink_.texts.empty());
}

// The API server was away while the container crashed, and its node dropped the log before the server was
// back.
TEST_F(RankReaderTest, AnErrorOfTheKubeletAfterABreakIsNotTheEndOfTheLog) {
  print(0, "a");
  facts_.set(reader_facts(Output::kRunning));
  int calls = 0;
  const auto note =
      read([&](const auto&, const auto& options, const auto& on_piece, auto) -> base::Result<void> {
        if (++calls == 1) {
          on_piece(log_.served(options));
          facts_.set(reader_facts(Output::kPrevious));
          return base::fail(ErrorCode::kTransport, "reset");
        }
        on_piece("unable to retrieve container logs for containerd://1234");
        return {};
      });
  EXPECT_EQ("its node has dropped its log: unable to retrieve container logs for containerd://1234", *note);
  EXPECT_THAT(sink_.texts, ElementsAre("a"));
}

TEST_F(RankReaderTest, ALastLineWithoutAnEndIsShownOnceASecondReadConfirmsIt) {
  print(0, "a");
  print(10, "last");
  facts_.set(reader_facts(Output::kEnded));
  int calls = 0;
  const auto note =
      read([&](const auto&, const auto& options, const auto& on_piece, auto) -> base::Result<void> {
        const auto text = log_.served(options);
        on_piece(text.substr(0, text.size() - (++calls == 1 ? 3 : 1)));
        return {};
      });
  EXPECT_EQ("", *note);
  EXPECT_THAT(sink_.texts, ElementsAre("a", "last"));
}

TEST_F(RankReaderTest, ARefusalEndsIt) {
  facts_.set(reader_facts(Output::kRunning));
  const auto note = read([&](const auto&, const auto&, const auto&, auto) -> base::Result<void> {
    return base::fail(ErrorCode::kForbidden, "no");
  });
  ASSERT_FALSE(note);
  EXPECT_EQ(ErrorCode::kForbidden, note.error().code);
}

TEST_F(RankReaderTest, WithoutFollowItReadsWhatThereIs) {
  print(0, "a");
  facts_.set(reader_facts(Output::kRunning));
  int calls = 0;
  const auto note = read(
      [&](const auto&, const auto& options, const auto& on_piece, auto) -> base::Result<void> {
        EXPECT_FALSE(options.follow);
        if (++calls == 1) return base::fail(ErrorCode::kTransport, "reset");
        on_piece(log_.served(options));
        return {};
      },
      false);
  EXPECT_EQ("", *note);
  EXPECT_THAT(sink_.texts, ElementsAre("a"));
  EXPECT_EQ(2, calls);
}

// A worker prints numbered lines, some at the same moment. Streams end at any byte, in any way; the log is
// rotated behind what was read; the container ends, and may be started again before its status says so.
RC_GTEST_PROP(RankReaderProperty, EveryLineOnceAndInOrder, ()) {
  const auto pauses = *rc::gen::container<std::vector<int>>(rc::gen::weightedOneOf<int>(
      {{3, rc::gen::just(0)}, {6, rc::gen::inRange(1, 300'000)}, {1, rc::gen::inRange(300'000, 4'000'000)}}));
  // Small values of rapidcheck would mean that everything fails for ever.
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const auto below = [&random](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  const bool gang = below(2) == 0;
  test::JumpingClock clock;
  FactsBox facts(clock);
  Collected sink;
  test::PlayedLog log;
  std::vector<std::string> expected;
  base::WallTime now = kBegin;
  bool restarted = false;
  facts.set(reader_facts(Output::kRunning));

  const auto print_some = [&](std::size_t most) {
    for (std::size_t i = 0; i < most && expected.size() < pauses.size(); ++i) {
      const int pause = pauses[expected.size()];
      now += microseconds(pause);
      // Every third line is the same text. Not two at the same time: nobody can tell them apart after a
      // rotation.
      const bool same = pause > 0 && expected.size() % 3 == 0;
      expected.push_back(same ? "same" : std::to_string(expected.size()));
      log.print({now, expected.back()});
    }
    if (expected.size() == pauses.size() && !restarted) {
      restarted = gang;
      // The status may come later than the restart, or tell of the end first.
      auto known = reader_facts(gang && below(2) == 0 ? Output::kPrevious : Output::kEnded);
      known.state.restarts = gang;
      if (!gang || below(3) > 0) facts.set(known);
    }
  };
  int streams = 0;
  const FetchLog fetch = [&](const auto&, const kube::LogOptions& options, const auto& on_piece,
                             auto) -> base::Result<void> {
    RC_ASSERT(++streams < 10'000);
    if (below(3) == 0) log.rotate(sink.texts.empty() ? 0 : sink.texts.size() - 1);
    print_some(below(4));
    const auto fate = below(8);
    if (fate == 0) return base::fail(ErrorCode::kNotFound, "pod does not exist");
    if (fate == 1) return base::fail(ErrorCode::kServer, "dial tcp: connection refused");
    std::string text = log.served(options);
    if (restarted && !options.previous) {
      // The container that holds may not have printed anything yet.
      text = below(2) == 0 ? "" : test::PlayedLog::stamp(now + seconds(1)) + " " + kRepeated + "\n";
      facts.set(reader_facts(Output::kPrevious));
    }
    if (fate <= 4) text.resize(below(text.size() + 1));
    if (!on_piece(text)) return {};
    if (fate == 2) return base::fail(ErrorCode::kTransport, "reset");
    if (fate == 3 && options.follow) return base::fail(ErrorCode::kTimeout, "no byte for 2000 ms");
    // A kubelet that dies ends the stream as if the log had ended. That it dies during both reads that prove
    // completeness is left out here.
    if (fate <= 4 && !options.follow) return base::fail(ErrorCode::kTransport, "reset");
    return {};
  };
  RankReader reader({.pod = {"lab", "w"}, .container = "c", .follow = true}, fetch, facts, sink, clock);
  const auto note = reader.run({});
  RC_ASSERT(note.has_value());
  RC_ASSERT(note->empty());
  RC_ASSERT(sink.gaps.empty());
  RC_ASSERT(sink.texts == expected);
  RC_ASSERT(expected.size() == pauses.size());
}

}  // namespace
}  // namespace gpupool::logs
