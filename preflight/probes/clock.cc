// SPDX-License-Identifier: Apache-2.0
#include "probes/clock.h"

#include <sys/timex.h>

#include <ctime>

namespace gpupool::probes {

bool clock_synchronised() {
  timex state{};
  return ::adjtimex(&state) != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

std::optional<base::WallTime> parse_http_date(const std::string& text) {
  std::tm fields{};
  const char* const end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &fields);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&fields));
}

std::chrono::milliseconds ahead_of(base::WallTime date, base::WallTime before, base::WallTime after) {
  using std::chrono::milliseconds;
  const auto date_ends = date + std::chrono::seconds(1);
  if (before > date_ends) return std::chrono::duration_cast<milliseconds>(before - date_ends);
  if (after < date) return std::chrono::duration_cast<milliseconds>(after - date);
  return milliseconds::zero();
}

}  // namespace gpupool::probes
