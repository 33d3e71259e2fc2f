// SPDX-License-Identifier: Apache-2.0
#include "csv/survey.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "csv/header.h"
#include "tests/unit/carry-csv/csv_folder.h"

namespace gpupool::carry::csv {
namespace {

// Reads a file as often as its survey wants.
class Surveyed {
 public:
  Surveyed(const std::string& text, const api::CsvIngestion& spec, std::size_t numbers, std::size_t modes) {
    folder_.write("a.csv", text);
    const auto source = folder_.source("a.csv");
    RowReader first(source, ',', kMaxColumns, true, {});
    EXPECT_TRUE(make_rules(spec, *read_header(first, "a.csv"), rules_));
    survey_.emplace(rules_, numbers, modes);
    while (first.next() == RowStatus::kRow) survey_->add(first);
    while (survey_->more() && !survey_->without_mode()) {
      ++readings_;
      RowReader again(source, ',', kMaxColumns, true, {});
      again.next();
      while (again.next() == RowStatus::kRow) survey_->add_again(again);
    }
  }
  const Survey& survey() const { return *survey_; }
  int readings() const { return readings_; }

 private:
  CsvFolder folder_;
  Rules rules_;
  std::optional<Survey> survey_;
  int readings_ = 1;
};

std::string surveyed_file() {
  std::string text = "keep,number,word\n";
  for (int i = 0; i < 400; ++i) {
    text += i % 7 == 0 ? "," : "1,";
    text += i % 11 == 0 ? "NA," : std::to_string((i * 7919 % 1000) - 300) + ".5,";
    text += i % 13 == 0 ? "\n" : "w" + std::to_string(i * i % 97) + "\n";
  }
  return text;
}

TEST(Survey, FindsTheSameInLittleMemory) {
  api::CsvIngestion spec;
  spec.missing.columns = {{"keep", "Drop"}, {"number", "Median"}, {"word", "Mode"}};
  spec.clip.columns["number"].lower_quantile = "0.05";
  spec.clip.columns["number"].upper_quantile = "0.95";
  const Surveyed roomy(surveyed_file(), spec, kNumbersMemory, kModesMemory);
  const Surveyed narrow(surveyed_file(), spec, 256, 2000);
  EXPECT_EQ(roomy.readings(), 2);  // Mode is counted in the second one
  EXPECT_GT(narrow.readings(), 3);
  EXPECT_EQ(roomy.survey().median(1), narrow.survey().median(1));
  EXPECT_EQ(roomy.survey().mode(2), narrow.survey().mode(2));
  for (const double q : {0.05, 0.95})
    EXPECT_EQ(roomy.survey().quantile(1, q, 31, 7.5), narrow.survey().quantile(1, q, 31, 7.5));
}

TEST(Survey, SaysWhichModeCannotBeFound) {
  std::string text = "few,many,whole\n,NA,1\n";
  for (int i = 0; i < 3000; ++i) text += "x,v" + std::to_string(i) + "," + std::to_string(i) + "\n";
  api::CsvIngestion spec;
  spec.missing.default_rule = "Mode";
  EXPECT_EQ(Surveyed(text, spec, 1000, 3000).survey().without_mode(), 1U);
  EXPECT_EQ(Surveyed(text, spec, 1000, kModesMemory).survey().without_mode(), std::nullopt);
}

RC_GTEST_PROP(SurveyProperty, QuantilesAreOfTheColumnAfterImputing, ()) {
  const auto number = rc::gen::inRange(-20, 20);
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(number));
  const auto filled = *rc::gen::inRange<std::size_t>(0, 12);
  const auto fill = *number * 0.5;
  const auto percent = *rc::gen::inRange(0, 101);
  std::string text = "a\n";
  for (const auto value : values) text += std::to_string(value) + "\n";
  for (std::size_t i = 0; i < filled; ++i) text += "NA\n";
  const double q = percent / 100.0;
  api::CsvIngestion spec;
  spec.missing.constants["a"] = "0";
  spec.clip.columns["a"].lower_quantile = number_text(q);
  const Surveyed surveyed(text, spec, *rc::gen::element<std::size_t>(32, 100'000), 1000);

  std::vector<double> whole(values.begin(), values.end());
  whole.insert(whole.end(), filled, fill);
  std::sort(whole.begin(), whole.end());
  const double at = static_cast<double>(whole.size() - 1) * q;
  const auto place = static_cast<std::size_t>(at);
  const double low = whole[place];
  const double high = whole[std::min(place + 1, whole.size() - 1)];
  const double wanted = low + (high - low) * (at - static_cast<double>(place));
  RC_ASSERT(std::fabs(surveyed.survey().quantile(0, q, static_cast<std::int64_t>(filled), fill) - wanted) <
            1e-9);
}

}  // namespace
}  // namespace gpupool::carry::csv
