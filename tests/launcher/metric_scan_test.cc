// SPDX-License-Identifier: Apache-2.0
// Which numbers are found in what programs print.
#include "launcher/metric_scan.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "launcher/metric_reader.h"

namespace gpupool::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kEnough = 10'000;

struct Case {
  const char* line;
  const char* last;  // of loss; empty: not found
};

class Line : public testing::TestWithParam<Case> {};

TEST_P(Line, GivesItsNumber) {
  Metrics metrics({"loss"}, "step");
  scan_line(GetParam().line, metrics);
  const auto texts = metrics.texts(kEnough);
  const std::string last = GetParam().last;
  if (last.empty()) {
    EXPECT_THAT(texts, IsEmpty()) << GetParam().line;
    return;
  }
  ASSERT_EQ(texts.size(), 1U) << GetParam().line;
  EXPECT_EQ(texts[0].substr(0, texts[0].find(' ', 5)), "loss " + last) << GetParam().line;
}

INSTANTIATE_TEST_SUITE_P(
    Text, Line,
    testing::Values(Case{"loss=0.5", "0.5"}, Case{"loss: 0.5", "0.5"}, Case{"loss = 0.5", "0.5"},
                    Case{"epoch 3, loss=-7.53e-05, acc=1", "-7.53e-05"}, Case{"loss=+2", "2"},
                    Case{"loss: 71.59%", "0.7159"}, Case{"[loss=888]", "888"}, Case{"loss=0.5.", "0.5"},
                    Case{"loss=1/10", "1"}, Case{"loss=nan", "NaN"}, Case{"loss=inf", "Infinity"},
                    Case{"loss=-inf", "-Infinity"}, Case{"loss=1e999", "Infinity"}, Case{"loss=NaN", "NaN"},
                    Case{"{'loss': 0.25, 'epoch': 1.0}", "0.25"}, Case{"\x1b[32mloss=0.5\x1b[0m", "0.5"},
                    Case{"a=b loss\t=\t4", "4"}, Case{"loss=1 loss=2", "2"}, Case{"loss=1 loss:2", "2"}));
INSTANTIATE_TEST_SUITE_P(NoNumber, Line,
                         testing::Values(Case{"loss=", ""}, Case{"loss", ""}, Case{"", ""},
                                         Case{"loss == 0.5", ""}, Case{"loss=0.5s", ""},
                                         Case{"loss=1.2.3", ""}, Case{"loss=0x10", ""},
                                         Case{"loss=infinite", ""}, Case{"train.loss=0.5", ""},
                                         Case{"my-loss=0.5", ""}, Case{"xloss: 1", ""}, Case{"lossy=1", ""},
                                         Case{"2loss=1", ""}, Case{"'loss\": 1", ""}, Case{"loss=+-1", ""},
                                         Case{"loss=1_000", ""}));
INSTANTIATE_TEST_SUITE_P(JsonLines, Line,
                         testing::Values(Case{R"({"loss": 0.5})", "0.5"},
                                         Case{R"( {"a":[1,{"loss":3}],"loss":2} )", "2"},
                                         Case{R"({"loss":"0.5"})", "0.5"}, Case{R"({"loss":NaN})", "NaN"},
                                         Case{R"({"text":"loss=3"})", ""},
                                         Case{R"({"text":"\"","loss":1})", "1"}, Case{R"({"loss":true})", ""},
                                         Case{R"({"loss":"0.5 s"})", ""}, Case{R"({"val":{"loss":1}})", ""},
                                         Case{R"({"loss":[1,2]})", ""},
                                         Case{R"({"loss":71.59%})", "0.7159"}));

TEST(MetricScan, JoinsNamesOfObjectsWithDots) {
  Metrics metrics({"val.loss"}, "step");
  scan_line(R"({"val": {"loss": 0.5}, "step": 7})", metrics);
  EXPECT_THAT(metrics.texts(kEnough), ElementsAre("val.loss 0.5 7 0.5 7 0.5 7 1 0"));
}

TEST(MetricScan, ABadJsonLineAmongGoodOnesIsNotTheEnd) {
  Metrics metrics({"loss"}, "step");
  for (const char* line : {R"({"loss": 1})", R"({"loss": 2,})", R"({"loss": 3)", R"({"loss": 4})"})
    scan_json_line(line, metrics);
  EXPECT_THAT(metrics.texts(kEnough), ElementsAre("loss 4 - 1 - 4 - 2 0"));
}

TEST(Metrics, KnowsTheStepOfEachValue) {
  Metrics metrics({"loss", "acc"}, "step");
  for (const char* line : {"loss=9", "step=10 loss=3", "step: 20", "loss=1", "acc=0.5 loss=2 step=30"})
    scan_line(line, metrics);
  EXPECT_THAT(metrics.texts(kEnough), ElementsAre("loss 2 30 1 20 9 - 4 0", "acc 0.5 30 0.5 30 0.5 30 1 0"));
}

TEST(Metrics, TheStepItselfMayCount) {
  Metrics metrics({"epoch"}, "epoch");
  scan_line("epoch: 3", metrics);
  EXPECT_THAT(metrics.texts(kEnough), ElementsAre("epoch 3 3 3 3 3 3 1 0"));
}

TEST(Metrics, CountsWhatIsNotFinite) {
  Metrics metrics({"loss"}, "step");
  for (const char* line : {"loss=1", "loss=nan", "loss=inf"}) scan_line(line, metrics);
  EXPECT_THAT(metrics.texts(kEnough), ElementsAre("loss Infinity - 1 - 1 - 3 2"));
  Metrics none({"loss"}, "step");
  scan_line("loss=nan", none);
  EXPECT_THAT(none.texts(kEnough), ElementsAre("loss NaN - - - - - 1 1"));
}

TEST(Metrics, NamesOthersWhileOneIsMissing) {
  Metrics metrics({"loss", "acc"}, "step");
  scan_line("step=1 Loss=0.5 accuracy=0.9 time: 12:30:01", metrics);
  EXPECT_THAT(metrics.others(), ElementsAre("Loss", "accuracy", "time"));
  scan_line("loss=1 acc=1", metrics);
  EXPECT_THAT(metrics.others(), IsEmpty());
}

TEST(Metrics, OthersAreBounded) {
  Metrics metrics({"loss"}, "step");
  for (int i = 0; i < 1000; ++i) scan_line("name" + std::to_string(i) + "=1", metrics);
  EXPECT_EQ(metrics.others().size(), 8U);
  scan_line("loss=5", metrics);
  EXPECT_THAT(metrics.texts(kEnough), ElementsAre("loss 5 - 5 - 5 - 1 0"));
}

TEST(Metrics, LeavesOutWhatDoesNotFit) {
  Metrics metrics({"a", "b"}, "step");
  scan_line("a=1 b=2", metrics);
  const std::string first = "a 1 - 1 - 1 - 1 0";
  EXPECT_THAT(metrics.texts(first.size() + 3), ElementsAre(first));
  EXPECT_THAT(metrics.texts(first.size() + 2), IsEmpty());
}

TEST(MetricReader, FindsLinesInAnyPieces) {
  const std::string output = "step=1 loss=3\nloss=2\rloss=1\r\nno\n\nstep=2 loss=0.5";
  for (std::size_t size = 1; size <= output.size(); ++size) {
    Metrics metrics({"loss"}, "step");
    MetricReader reader(metrics);
    for (std::size_t at = 0; at < output.size(); at += size)
      reader.append(0, std::string_view(output).substr(at, size));
    reader.finish();
    EXPECT_THAT(metrics.texts(kEnough), ElementsAre("loss 0.5 2 0.5 2 3 1 4 0")) << "pieces of " << size;
  }
}

TEST(MetricReader, KeepsStreamsApart) {
  Metrics metrics({"loss"}, "step");
  MetricReader reader(metrics);
  reader.append(0, "lo");
  reader.append(1, "loss=7\n");
  reader.append(0, "ss=1\n");
  EXPECT_THAT(metrics.texts(kEnough), ElementsAre("loss 1 - 1 - 7 - 2 0"));
}

TEST(MetricReader, ReadsTheBeginningOfALongLine) {
  Metrics metrics({"loss", "acc"}, "step");
  MetricReader reader(metrics);
  reader.append(0, "loss=1 " + std::string(100'000, 'x'));
  reader.append(0, std::string(100'000, 'x') + " acc=1\nloss=2\n");
  EXPECT_THAT(metrics.texts(kEnough), ElementsAre("loss 2 - 1 - 2 - 2 0"));
}

}  // namespace
}  // namespace gpupool::launcher
