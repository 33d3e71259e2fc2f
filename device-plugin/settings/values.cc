// SPDX-License-Identifier: Apache-2.0
#include "settings/values.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace gpupool::settings {
namespace {

constexpr Milli kMaxScaling = 100'000;
constexpr std::size_t kDecimals = 3;

tl::unexpected<base::Error> bad(std::string what) {
  return base::fail(base::ErrorCode::kInvalidArgument, std::move(what));
}

bool is_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_word(const std::string& text, const std::string& extra) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && plain(text.front()) && plain(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return plain(c) || extra.find(c) != std::string::npos; });
}

}  // namespace

base::Result<std::int64_t> to_integer(const std::string& text, std::int64_t least, std::int64_t most) {
  const std::string wanted =
      "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  const bool fits = is_digits(text) && parsed.ec == std::errc{} && parsed.ptr == end;
  if (!fits || value < least || value > most) return bad(wanted + ", not '" + text + "'");
  return value;
}

base::Result<Milli> to_scaling(const std::string& text) {
  const auto refused = [&] {
    return bad("must be a number above 0 and up to 100 with at most 3 decimals, such as 1 or 1.5, not '" +
               text + "'");
  };
  const auto point = text.find('.');
  const std::string whole = text.substr(0, point);
  std::string decimals = point == std::string::npos ? "0" : text.substr(point + 1);
  if (!is_digits(whole) || !is_digits(decimals) || whole.size() > kDecimals || decimals.size() > kDecimals) {
    return refused();
  }
  decimals.resize(kDecimals, '0');
  Milli value = 0;
  const std::string digits = whole + decimals;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (value <= 0 || value > kMaxScaling) return refused();
  return value;
}

base::Result<bool> to_bool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return bad("must be true or false, not '" + text + "'");
}

base::Result<Policy> to_policy(const std::string& text) {
  if (text == "pack") return Policy::kPack;
  if (text == "spread") return Policy::kSpread;
  if (text == "distinct") return Policy::kDistinct;
  return bad("must be pack, spread or distinct, not '" + text + "'");
}

base::Result<ErrorAction> to_error_action(const std::string& text) {
  if (text == "ignore") return ErrorAction::kIgnore;
  if (text == "unhealthy") return ErrorAction::kUnhealthy;
  if (text == "untilReset") return ErrorAction::kUntilReset;
  return bad("must be ignore, unhealthy or untilReset, not '" + text + "'");
}

base::Result<Enforce> to_enforce(const std::string& text) {
  if (text == "none") return Enforce::kNone;
  if (text == "library") return Enforce::kLibrary;
  return bad("must be none or library, not '" + text + "'");
}

base::Result<OnExcess> to_on_excess(const std::string& text) {
  if (text == "report") return OnExcess::kReport;
  if (text == "end") return OnExcess::kEnd;
  return bad("must be report or end, not '" + text + "'");
}

// A CDI kind is vendor/class: CDI specification, section "kind".
base::Result<std::string> to_cdi_prefix(const std::string& text) {
  const auto slash = text.find('/');
  if (slash != std::string::npos && is_word(text.substr(0, slash), "-_.") &&
      is_word(text.substr(slash + 1), "-_")) {
    return text;
  }
  return bad("must be a CDI kind of the form vendor/class, such as nvidia.com/gpu, not '" + text + "'");
}

base::Result<std::string> to_directory(const std::string& text) {
  const std::filesystem::path path(text);
  const bool leaves = std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
  if (text.empty() || text.front() != '/' || leaves || text.find('\0') != std::string::npos) {
    return bad("must be an absolute path without '..', not '" + text + "'");
  }
  const std::filesystem::path normal = path.lexically_normal();
  return normal.has_filename() || normal == "/" ? normal.string() : normal.parent_path().string();
}

std::string mig_problem(const Settings& settings) {
  const Passing& passing = settings.passing;
  if (!settings.mig || passing.environment || passing.cdi_devices || passing.cdi_annotations) return {};
  return "needs passing.environment, cdiDevices or cdiAnnotations: device nodes alone do not open a MIG "
         "instance";
}

}  // namespace gpupool::settings
