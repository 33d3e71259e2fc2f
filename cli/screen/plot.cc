// SPDX-License-Identifier: Apache-2.0
#include "screen/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace gpupool::screen {
namespace {

constexpr std::size_t kRows = 10;
constexpr std::size_t kMostColumns = 100;
constexpr std::size_t kFileColumns = 80;
constexpr std::size_t kLeastColumns = 10;
constexpr double kLogarithmicFrom = 1000;

// From numbers to cells 0 .. cells - 1.
class Scale {
 public:
  Scale(double least, double greatest, std::size_t cells, bool logarithmic)
      : logarithmic_(logarithmic), low_(at(least)), high_(at(greatest)), cells_(cells) {}

  std::size_t cell(double number) const {
    if (high_ <= low_) return 0;
    // Halves, because the difference of two finite numbers need not be finite.
    const double part = (at(number) / 2 - low_ / 2) / (high_ / 2 - low_ / 2);
    return static_cast<std::size_t>(
        std::lround(std::clamp(part, 0.0, 1.0) * static_cast<double>(cells_ - 1)));
  }
  double number(std::size_t cell) const {
    const double part = static_cast<double>(cell) / static_cast<double>(cells_ - 1);
    const double between = low_ * (1 - part) + high_ * part;
    return logarithmic_ ? std::exp(between) : between;
  }

 private:
  double at(double number) const { return logarithmic_ ? std::log(number) : number; }

  bool logarithmic_;
  double low_;
  double high_;
  std::size_t cells_;
};

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

}  // namespace

std::string short_number(double number) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.4g", number);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string plot(const std::vector<PlotPoint>& points, const Terminal& terminal) {
  if (points.empty()) return "";
  const auto [left, right] = std::ranges::minmax(points, {}, &PlotPoint::x);
  const auto [low, high] = std::ranges::minmax(points, {}, &PlotPoint::y);
  const Scale vertical(low.y, high.y, kRows, low.y > 0 && high.y / low.y >= kLogarithmicFrom);
  std::array<std::string, kRows> labels;
  std::size_t margin = 0;
  for (const std::size_t row : {std::size_t{0}, kRows / 2, kRows - 1}) {
    if (low.y == high.y && row > 0) continue;
    labels.at(row) = short_number(vertical.number(row));
    margin = std::max(margin, labels.at(row).size());
  }
  const std::size_t whole = std::min(kMostColumns, terminal.columns == 0 ? kFileColumns : terminal.columns);
  const std::size_t columns = std::max(kLeastColumns, whole - std::min(whole, margin + 2));
  const Scale horizontal(left.x, right.x, columns, false);

  std::array<std::string, kRows> rows;
  rows.fill(std::string(columns, ' '));
  for (const bool best : {false, true}) {  // those in front come last
    for (const auto& point : points) {
      if (point.best == best) rows.at(vertical.cell(point.y)).at(horizontal.cell(point.x)) = best ? '*' : '.';
    }
  }
  std::string text;
  for (std::size_t row = kRows; row-- > 0;) {
    auto line = rows.at(row);
    line.erase(line.find_last_not_of(' ') + 1);
    text += padded(labels.at(row), margin) + " |" + line + "\n";
  }
  text += std::string(margin + 1, ' ') + "+" + std::string(columns, '-') + "\n";
  const auto first = short_number(left.x);
  const auto last = left.x == right.x ? "" : short_number(right.x);
  return text + std::string(margin + 2, ' ') + first +
         (last.empty() ? "" : padded(last, columns - std::min(columns, first.size()))) + "\n";
}

}  // namespace gpupool::screen
