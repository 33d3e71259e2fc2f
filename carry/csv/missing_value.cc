// SPDX-License-Identifier: Apache-2.0
#include "csv/missing_value.h"

#include <algorithm>
#include <array>

namespace gpupool::carry::csv {

using namespace std::string_view_literals;

// pandas._libs.parsers.STR_NA_VALUES of pandas 1.5.3, without the empty text.
bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  constexpr std::array kLong = {"#N/A N/A"sv, "-1.#QNAN"sv, "-1.#IND"sv, "1.#QNAN"sv, "1.#IND"sv};
  constexpr std::array kShort = {"NA"sv,   "NaN"sv,  "nan"sv,  "N/A"sv,  "n/a"sv,  "#NA"sv,
                                 "NULL"sv, "null"sv, "#N/A"sv, "<NA>"sv, "-NaN"sv, "-nan"sv};
  if (text.size() > 8 || text.size() == 1) return false;
  if (text.size() > 4) return std::find(kLong.begin(), kLong.end(), text) != kLong.end();
  return std::find(kShort.begin(), kShort.end(), text) != kShort.end();
}

}  // namespace gpupool::carry::csv
