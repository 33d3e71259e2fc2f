// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "csv/survey.h"
#include "failure/failure.h"

namespace gpupool::carry::csv {

enum class Clip : std::uint8_t { kNone, kLow, kHigh };

// What is done with one column when it is written.
struct ColumnDecision {
  ColumnType type = ColumnType::kText;
  bool fills = false;  // missing values are replaced
  std::string fill;    // by this text; clipped already
  double fill_number = 0;
  Clip fill_clip = Clip::kNone;
  bool has_lower = false;
  bool has_upper = false;
  double lower = 0;
  double upper = 0;
  std::string lower_text;
  std::string upper_text;
  bool clips = false;   // at least one value that is not missing is out of bounds
  std::string imputed;  // the text before it was clipped
  std::string note;

  Clip clip_of(double value) const {
    if (has_lower && value < lower) return Clip::kLow;
    return has_upper && value > upper ? Clip::kHigh : Clip::kNone;
  }
};

// Decides for all columns. kInvalid: a rule that does not fit the type that was found, or bounds that cross;
// `file` is named. REQUIRES: survey.more() returned false, and no column is without a mode.
Outcome<std::vector<ColumnDecision>> decide(const Rules& rules, const Survey& survey,
                                            const std::string& file);

}  // namespace gpupool::carry::csv
