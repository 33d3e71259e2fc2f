// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "screen/terminal.h"

namespace gpupool::screen {

struct PlotPoint {
  double x = 0;
  double y = 0;
  bool best = false;  // better than all before it
};

// A picture of the points in characters: '*' where a point is the best so far, '.' else. The vertical axis is
// logarithmic if all values are positive and the greatest is at least 1,000 times the least. 10 lines and
// the horizontal axis, at most 100 columns, 80 in a file. Empty without points. REQUIRES: finite numbers.
std::string plot(const std::vector<PlotPoint>& points, const Terminal& terminal);

// A number as people read it: at most 4 significant digits.
std::string short_number(double number);

}  // namespace gpupool::screen
