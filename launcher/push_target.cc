// SPDX-License-Identifier: Apache-2.0
#include "launcher/push_target.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "launcher/option_values.h"

namespace gpupool::launcher {
namespace {

constexpr std::size_t kTokenDigits = 64;

// A text that needs no escape in JSON.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
}

bool is_hex_token(std::string_view text) {
  return text.size() == kTokenDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string take_keeper_token(std::vector<std::string>& environment) {
  const std::string begin = std::string(api::log_push::kTokenVariable) + "=";
  std::string token;
  std::erase_if(environment, [&](const std::string& variable) {
    if (!variable.starts_with(begin)) return false;
    token = variable.substr(begin.size());
    return true;
  });
  return token;
}

Expected<PushTarget> make_push_target(const Options& options, const std::string& token) {
  const auto address = parse_address(options.keeper);
  if (!address) return failure("--keeper: '" + options.keeper + "' is not IP:PORT");
  std::array<std::string, 4> parts;
  std::string_view rest = options.keeper_id;
  for (std::string& part : parts) {
    part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  const std::optional<int> number = parse_number(parts[2]);
  if (parts[0].empty() || parts[1].empty() || !number || !is_plain(parts[0]) || !is_plain(parts[1]) ||
      !is_plain(parts[3]) || !is_plain(options.job) || !is_plain(options.keeper_key))
    return failure("--keeper-id: '" + options.keeper_id + "' is not NAMESPACE/UID/N/POOL");
  if (!is_hex_token(token)) return failure("there is no token for the keeper");
  return PushTarget{.address = *address,
                    .key = options.keeper_key,
                    .token = token,
                    .ns = parts[0],
                    .uid = parts[1],
                    .lease = *number,
                    .attempt = options.attempt,
                    .pool = parts[3],
                    .job = options.job,
                    .rank = options.node_rank,
                    .ranks = options.nodes};
}

std::string spool_file(const Options& options) { return options.state_dir + "/log-spool"; }

}  // namespace gpupool::launcher
