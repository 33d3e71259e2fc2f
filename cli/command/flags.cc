// SPDX-License-Identifier: Apache-2.0
#include "command/flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <utility>

#include "base/join.h"
#include "command/duration.h"
#include "screen/plain_text.h"

namespace gpupool::command {
namespace {

// CLI11 shows what a check returns, and takes no text for good.
std::string check_number(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most)
    return {};
  return "\"" + text + "\" is no whole number from " + std::to_string(least) + " to " + std::to_string(most);
}

std::string check_duration(const std::string& text) {
  return parse_duration(text) ? "" : "\"" + text + "\" is no duration such as 30s, 5m or 1h30m";
}

std::string check_word(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == text) return {};
  }
  return "\"" + text + "\" is none of: " + base::join(words, ", ");
}

// CLI11's own texts speak of options and extras; these are kubectl's words.
std::string message_of(const CLI::ParseError& error, const CLI::App& app) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    for (const std::string& word : app.remaining()) {
      if (word.starts_with("-") && word != "-") return "unknown flag: " + word;
    }
    return "unexpected argument: " + base::join(app.remaining(), ", ");
  }
  const std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch) &&
      text.find("required") != std::string::npos) {
    return "flag needs an argument: " + text.substr(0, text.find(':'));
  }
  return text;
}

}  // namespace

struct Flags::Parser {
  explicit Parser(std::string name) : app("", std::move(name)) {
    app.set_help_flag();
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  CLI::App app;
};

Flags::Flags(std::string usage_name) : parser_(std::make_unique<Parser>(std::move(usage_name))) {}

Flags::~Flags() = default;

void Flags::note(const std::string& names, FlagInfo info) {
  if (info.is_argument) {
    info.long_name = names;
  } else {
    const auto dashes = names.find("--");
    info.long_name = names.substr(dashes + 2);
    if (dashes > 0) info.short_name = names[1];
  }
  info.general = general_;
  all_.push_back(std::move(info));
}

void Flags::yes(const std::string& names, bool& value, const std::string& help) {
  parser_->app.add_flag(names, value, help);
  note(names, {.help = help});
}

void Flags::text(const std::string& names, std::string& value, const std::string& value_name,
                 const std::string& help, Offer offer) {
  parser_->app.add_option(names, value, help);
  note(names, {.value_name = value_name, .help = help, .offer = offer});
}

void Flags::texts(const std::string& names, std::vector<std::string>& values, const std::string& value_name,
                  const std::string& help, Offer offer) {
  parser_->app.add_option(names, values, help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->allow_extra_args(false);
  note(names, {.value_name = value_name, .help = help, .offer = offer, .many = true});
}

void Flags::number(const std::string& names, std::optional<std::int64_t>& value,
                   const std::string& value_name, const std::string& help, std::int64_t least,
                   std::int64_t most) {
  parser_->app.add_option(names, value, help)->check([least, most](const std::string& text) {
    return check_number(text, least, most);
  });
  note(names, {.value_name = value_name, .help = help});
}

void Flags::choice(const std::string& names, std::string& value, const std::vector<std::string>& words,
                   const std::string& help) {
  parser_->app.add_option(names, value, help)->check([words](const std::string& text) {
    return check_word(text, words);
  });
  std::string shown;
  for (const std::string& word : words) shown += (shown.empty() ? "" : "|") + word;
  note(names, {.value_name = shown, .help = help, .offer = Offer::kWords, .words = words});
}

void Flags::duration(const std::string& names, std::optional<std::chrono::milliseconds>& value,
                     const std::string& help) {
  parser_->app
      .add_option_function<std::string>(
          names, [&value](const std::string& text) { value = parse_duration(text); }, help)
      ->check(check_duration);
  note(names, {.value_name = "DURATION", .help = help});
}

void Flags::argument(const std::string& name, std::string& value, const std::string& help, Offer offer) {
  parser_->app.add_option(name, value, help)->required();
  note(name, {.help = help, .offer = offer, .is_argument = true, .required = true});
}

void Flags::optional_argument(const std::string& name, std::string& value, const std::string& help,
                              Offer offer) {
  parser_->app.add_option(name, value, help);
  note(name, {.help = help, .offer = offer, .is_argument = true});
}

void Flags::arguments(const std::string& name, std::vector<std::string>& values, const std::string& help,
                      Offer offer) {
  parser_->app.add_option(name, values, help)
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(-1);
  note(name, {.help = help, .offer = offer, .is_argument = true, .required = true, .many = true});
}

void Flags::word_argument(const std::string& name, std::string& value, const std::vector<std::string>& words,
                          const std::string& help) {
  parser_->app.add_option(name, value, help)->required()->check([words](const std::string& text) {
    return check_word(text, words);
  });
  std::string shown;
  for (const std::string& word : words) shown += (shown.empty() ? "" : ", ") + word;
  note(name, {.help = help + ": " + shown,
              .offer = Offer::kWords,
              .words = words,
              .is_argument = true,
              .required = true});
}

void Flags::number_argument(const std::string& name, std::int64_t& value, const std::string& help,
                            std::int64_t least, std::int64_t most) {
  parser_->app.add_option(name, value, help)->required()->check([least, most](const std::string& text) {
    return check_number(text, least, most);
  });
  note(name, {.help = help, .is_argument = true, .required = true});
}

base::Result<void> Flags::parse(const std::vector<std::string>& words) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
  try {
    parser_->app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return base::fail(base::ErrorCode::kInvalidArgument, screen::plain_text(message_of(error, parser_->app)));
  }
  return {};
}

base::Result<std::vector<std::string>> Flags::parse_leading(const std::vector<std::string>& words) {
  parser_->app.prefix_command();
  if (auto parsed = parse(words); !parsed) return tl::unexpected<base::Error>(parsed.error());
  auto rest = parser_->app.remaining();
  if (!rest.empty() && rest.front().starts_with("-")) {
    return base::fail(base::ErrorCode::kInvalidArgument, "unknown flag: " + screen::plain_text(rest.front()));
  }
  return rest;
}

}  // namespace gpupool::command
