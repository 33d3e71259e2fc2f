// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <map>
#include <string>
#include <vector>

namespace gpupool {
namespace {

constexpr int kUsageError = 2;

// "SEQ:HASH"; nothing for other text.
std::optional<ledger::Head> parse_head(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  ledger::Head head;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, head.seq);
  if (error != std::errc() || end != text.data() + colon) return std::nullopt;
  head.hash = text.substr(colon + 1);
  return head;
}

}  // namespace

std::variant<Options, int> read_options(int argc, char** argv) {
  Options options;
  std::string log_level = "info";
  std::string month;
  std::string head;
  CLI::App app("Keeps the books of what GpuJobs have held, and bills, pays out and checks from them.",
               "gpupool-ledger");
  app.set_version_flag("--version", GPUPOOL_VERSION);
  app.require_subcommand(1);
  std::map<const CLI::App*, LedgerCommand> commands;
  const auto command = [&](const char* name, LedgerCommand value, const char* help) {
    auto* made = app.add_subcommand(name, help);
    made->add_option("--database", options.database, "The SQLite file of the books")->capture_default_str();
    commands[made] = value;
    return made;
  };
  const auto statement = [&](CLI::App* made, const std::vector<std::string>& formats, const char* help) {
    made->add_option("--month", month, "For example 2026-11, in UTC; default: this month");
    made->add_option("--format", options.format, help)->check(CLI::IsMember(formats))->capture_default_str();
  };
  auto* serve = command("serve", LedgerCommand::kServe, "Enters what GpuJobs have held, until it is stopped");
  serve->add_option("--kubeconfig", options.kubeconfig, "Default: the pod's service account");
  serve
      ->add_option("--health-bind-address", options.health_bind_address,
                   "HOST:PORT of /healthz, /readyz and /metrics")
      ->capture_default_str();
  serve->add_option("--log-level", log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  auto* bill = command("bill", LedgerCommand::kBill, "What namespaces pay for a month");
  bill->add_option("--namespace,-n", options.whose.ns, "Only this one");
  statement(bill, {"text", "csv", "json", "focus"}, "text, csv, json, or focus: CSV by FOCUS 1.0");
  auto* payout = command("payout", LedgerCommand::kPayout, "What owners of machines are paid for a month");
  payout->add_option("--owner", options.whose.owner, "Only this one");
  statement(payout, {"text", "csv", "json"}, "text, csv or json");
  auto* explain = command("explain", LedgerCommand::kExplain, "How the amounts of a job come about");
  explain->add_option("JOB", options.job, "NAMESPACE/NAME, or its UID")->required();
  auto* verify =
      command("verify", LedgerCommand::kVerify, "Works the books out anew and names what is wrong");
  verify->add_option("--head", head, "An earlier head, SEQ:HASH: tells whether later entries were cut off");
  auto* adopt = command("adopt", LedgerCommand::kAdopt,
                        "Goes on with books that are not those that were published, such as a backup");
  adopt->add_option("--kubeconfig", options.kubeconfig, "Default: the pod's service account");
  try {
    app.parse(argc, argv);
    options.month = base::parse_month(month);
    if (!month.empty() && !options.month)
      throw CLI::ValidationError("--month", "\"" + month + "\" is not a month such as 2026-11");
    options.head = parse_head(head);
    if (!head.empty() && !options.head)
      throw CLI::ValidationError("--head", "\"" + head + "\" is not SEQ:HASH, as verify prints it");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  base::parse_log_level(log_level, options.log_level);
  options.command = commands.at(app.get_subcommands().front());
  options.whose.for_owner = options.command == LedgerCommand::kPayout;
  return options;
}

}  // namespace gpupool
