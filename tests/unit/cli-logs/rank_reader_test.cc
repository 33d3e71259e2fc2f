// SPDX-License-Identifier: Apache-2.0
#include "logs/rank_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/worker_result_format.h"
#include "tests/unit/cli-logs/played_log.h"
#include "tests/unit/kube/jumping_clock.h"

namespace gpupool::logs {
namespace {

using base::ErrorCode;
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

}  // namespace
}  // namespace gpupool::logs
