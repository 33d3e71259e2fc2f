// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "command/help.h"
#include "tests/unit/cli/played_server.h"

namespace gpupool {
namespace {

// Prints what it was told.
class Echo final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "echo", .summary = "Say it", .example = "  kubectl gpupool echo A", .trailing = "WORD..."};
  }
  void add_flags(command::Flags& flags) override {
    flags.argument("FIRST", first_, "What to say", command::Offer::kJobs);
    flags.optional_argument("SECOND", second_, "And this", command::Offer::kNothing);
    flags.yes("-y,--yes", yes_, "Really");
    flags.number("--count", count_, "N", "How often", -5, 5);
    flags.choice("-o,--output", output_, {"json", "wide"}, "Form");
    flags.texts("--tag", tags_, "TAG", "May be repeated");
    flags.duration("--for", how_long_, "How long");
  }
  base::Result<int> run(command::Context& context) override {
    if (first_ == "refuse") return base::fail(base::ErrorCode::kInvalidArgument, "no");
    context.out << first_ << "|" << second_ << "|" << yes_ << "|" << count_.value_or(0) << "|" << output_
                << "|";
    for (const auto& tag : tags_) context.out << tag << ",";
    context.out << "|" << (how_long_ ? how_long_->count() : -1) << "|" << context.general.ns << "|";
    for (const auto& word : context.trailing) context.out << word << ",";
    return 7;
  }

 private:
  std::string first_;
  std::string second_;
  bool yes_ = false;
  std::optional<std::int64_t> count_;
  std::string output_;
  std::vector<std::string> tags_;
  std::optional<std::chrono::milliseconds> how_long_;
};

command::Registry with_echo() {
  command::Registry registry;
  registry.add("Talking", std::make_unique<Echo>());
  return registry;
}

struct Line {
  const char* words;
  int code;
  const char* out;
  const char* err;
};

TEST(CommandLine, Words) {
  static constexpr char kSee[] = "\nSee 'kubectl gpupool echo --help' for usage.\n";
  const Line lines[] = {
      {"echo a", 7, "a||0|0|||-1||", ""},
      {"echo a b -y --count 3 -o wide", 7, "a|b|1|3|wide||-1||", ""},
      {"echo --yes a --output=json b", 7, "a|b|1|0|json||-1||", ""},
      {"echo a -ojson", 7, "a||0|0|json||-1||", ""},
      {"echo a --count -4", 7, "a||0|-4|||-1||", ""},
      {"echo a --tag x --tag=y,z", 7, "a||0|0||x,y,z,|-1||", ""},
      {"echo a --tag x b", 7, "a|b|0|0||x,|-1||", ""},
      {"echo a --for 1m30s", 7, "a||0|0|||90000||", ""},
      {"-n lab echo a", 7, "a||0|0|||-1|lab|", ""},
      {"--namespace=lab echo a -n other", 7, "a||0|0|||-1|other|", ""},
      {"echo a -n one -n two", 7, "a||0|0|||-1|two|", ""},
      {"echo a -- -x --help", 7, "a||0|0|||-1||-x,--help,", ""},
      {"echo", 2, "", "error: FIRST is required"},
      {"echo a b c", 2, "", "error: unexpected argument: c"},
      {"echo a --nope", 2, "", "error: unknown flag: --nope"},
      {"echo a -z", 2, "", "error: unknown flag: -z"},
      {"echo a --count", 2, "", "error: flag needs an argument: --count"},
      {"echo a --count 6", 2, "", "error: --count: \"6\" is no whole number from -5 to 5"},
      {"echo a --count x", 2, "", "error: --count: \"x\" is no whole number from -5 to 5"},
      {"echo a -o yaml", 2, "", "error: --output: \"yaml\" is none of: json, wide"},
      {"echo a --for soon", 2, "", "error: --for: \"soon\" is no duration such as 30s, 5m or 1h30m"},
      {"echo refuse", 2, "", "error: no"},
  };
  const auto registry = with_echo();
  for (const Line& line : lines) {
    const auto ran = test::run_line(with_echo(), line.words);
    EXPECT_EQ(ran.code, line.code) << line.words << ran.err;
    EXPECT_EQ(ran.out, line.out) << line.words;
    EXPECT_EQ(ran.err, *line.err == 0 ? "" : line.err + std::string(kSee)) << line.words;
  }
}

TEST(CommandLine, UnknownCommandsAndFlagsBeforeThem) {
  const auto registry = with_echo();
  auto ran = test::run_line(registry, "ecco a");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err,
            "error: unknown command \"ecco\" for \"kubectl gpupool\"\n\nDid you mean this?\n  echo\n\n"
            "See 'kubectl gpupool --help' for usage.\n");
  ran = test::run_line(registry, "other\x1b[2J");
  EXPECT_EQ(ran.err,
            "error: unknown command \"other [2J\" for \"kubectl gpupool\"\n"
            "See 'kubectl gpupool --help' for usage.\n");
  ran = test::run_line(registry, "--nope echo");
  EXPECT_EQ(ran.err, "error: unknown flag: --nope\nSee 'kubectl gpupool --help' for usage.\n");
  EXPECT_EQ(ran.code, 2);
}

TEST(CommandLine, HelpNamesEveryFlagAndIsNoError) {
  const auto registry = with_echo();
  const auto ran = test::run_line(registry, "echo --help");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out.substr(0, ran.out.find("\nFlags of all")), R"(Say it.

Examples:
  kubectl gpupool echo A

Arguments:
  FIRST      What to say
  [SECOND]   And this

Flags:
  -y, --yes                Really
      --count N            How often
  -o, --output json|wide   Form
      --tag TAG            May be repeated
      --for DURATION       How long
)");
  EXPECT_TRUE(ran.out.ends_with("Usage:\n  kubectl gpupool echo FIRST [SECOND] [flags] [-- WORD...]\n"));
  EXPECT_NE(ran.out.find("  -n, --namespace NAMESPACE "), std::string::npos);
  EXPECT_EQ(test::run_line(registry, "help echo").out, ran.out);
  for (const char* line : {"", "--help", "help"}) {
    const auto all = test::run_line(registry, line);
    EXPECT_EQ(all.code, 0) << line;
    EXPECT_NE(all.out.find("Talking:\n  echo   Say it\n"), std::string::npos) << line;
  }
}

TEST(CommandLine, NothingAfterDashesWhereNothingIsTaken) {
  class Plain final : public command::Command {
    Manual manual() const override { return {.name = "plain", .summary = "Nothing"}; }
    void add_flags(command::Flags&) override {}
    base::Result<int> run(command::Context&) override { return 0; }
  };
  command::Registry registry;
  registry.add("x", std::make_unique<Plain>());
  EXPECT_EQ(test::run_line(registry, "plain").code, 0);
  const auto ran = test::run_line(registry, "plain -- a");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "error: plain takes nothing after --\nSee 'kubectl gpupool plain --help' for usage.\n");
}

TEST(CommandLine, GroupsNeedAUser) {
  command::GeneralFlags flags;
  flags.as_groups = {"x"};
  base::SystemClock clock;
  const auto session = command::Session::open(flags, clock);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().message, "--as-group needs --as");
}

}  // namespace
}  // namespace gpupool
