// SPDX-License-Identifier: Apache-2.0
#include "csv/check_csv.h"

#include <gmock/gmock.h>

#include "base/json.h"

namespace gpupool::carry {
namespace {

std::string problem_with(const std::string& rules) {
  auto spec = base::json::read<api::CsvIngestion>(rules);
  EXPECT_TRUE(spec) << rules;
  if (spec->from.empty()) spec->from = "a.csv";
  const auto checked = check_csv(*spec);
  if (checked) return "";
  EXPECT_EQ(checked.error().kind, FailureKind::kInvalid);
  return checked.error().message;
}

TEST(CheckCsv, AcceptsEveryRule) {
  EXPECT_EQ(problem_with(R"({"delimiter":";","types":{"a":"Integer","b":"Number","c":"Text"},
      "missing":{"default":"Median","columns":{"a":"Drop","b":"Mode"},"constants":{"c":"?","d":""}},
      "clip":{"default":{"min":"-1e3","upperQuantile":"1"},"columns":{"b":{"lowerQuantile":"0","max":"5"},"c":{}}}})"),
            "");
  for (const auto* delimiter : {",", ";", "|", "\\t", "tab"})
    EXPECT_EQ(problem_with(std::string(R"({"delimiter":")") + delimiter + "\"}"), "");
}

TEST(CheckCsv, NamesFieldAndColumn) {
  for (const auto& [rules, wanted] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"delimiter":":"})", "csv.delimiter: is none of , ; | and tab"},
           {R"({"delimiter":",,"})", "csv.delimiter: is none of , ; | and tab"},
           {R"({"from":"../a"})", "csv.from: a path ../a has the part .."},
           {R"({"types":{"a":"Float"}})", "csv.types.a: Float is none of Integer, Number and Text"},
           {R"({"missing":{"default":"mean"}})",
            "csv.missing.default: mean is none of Keep, Drop, Mean, Median and Mode"},
           {R"({"missing":{"columns":{"a":"Zero"}}})",
            "csv.missing.columns.a: Zero is none of Keep, Drop, Mean, Median and Mode"},
           {R"({"missing":{"columns":{"a":"Mean"},"constants":{"a":"0"}}})",
            "csv.missing.constants.a: missing.columns names the column too"},
           {R"({"missing":{"constants":{"a":"x\u0000"}}})",
            "csv.missing.constants.a: has a NUL byte or is not UTF-8"},
           {R"({"clip":{"default":{"min":"low"}}})", "csv.clip.default.min: low is no number"},
           {R"({"clip":{"default":{"max":"inf"}}})", "csv.clip.default.max: inf is no number"},
           {R"({"clip":{"columns":{"a":{"min":"2","max":"1"}}}})",
            "csv.clip.columns.a: min is larger than max"},
           {R"({"clip":{"columns":{"a":{"lowerQuantile":"1.1"}}}})",
            "csv.clip.columns.a.lowerQuantile: 1.1 is no number from 0 to 1"},
           {R"({"clip":{"columns":{"a":{"upperQuantile":"-0.1"}}}})",
            "csv.clip.columns.a.upperQuantile: -0.1 is no number from 0 to 1"},
           {R"({"clip":{"columns":{"a":{"lowerQuantile":".9","upperQuantile":".1"}}}})",
            "csv.clip.columns.a: lowerQuantile is larger than upperQuantile"},
           {R"({"clip":{"columns":{"a":{"min":"1","lowerQuantile":".1"}}}})",
            "csv.clip.columns.a: min and lowerQuantile are both set; name one of them"},
           {R"({"clip":{"columns":{"a":{"max":"1","upperQuantile":".1"}}}})",
            "csv.clip.columns.a: max and upperQuantile are both set; name one of them"}})
    EXPECT_EQ(problem_with(rules), wanted);
}

}  // namespace
}  // namespace gpupool::carry
