// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpupool {
namespace {

constexpr int kUsageError = 2;
constexpr int kMostCacheSeconds = 300;

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

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", GPUPOOL_VERSION);
    app_.require_subcommand(1);
    add_serve();
    add_reports();
    add_amendments();
    add_payment();
  }

  std::variant<Options, int> read(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
      take_texts();
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? 0 : kUsageError;
    }
    options_.command = commands_.at(app_.get_subcommands().front());
    options_.whose.for_owner = options_.command == LedgerCommand::kPayout;
    return options_;
  }

 private:
  CLI::App* command(const char* name, LedgerCommand value, const char* help) {
    auto* made = app_.add_subcommand(name, help);
    made->add_option("--database", options_.database, "An SQLite file, or the URL of a PostgreSQL database")
        ->envname("GPUPOOL_LEDGER_DATABASE")
        ->capture_default_str();
    commands_[made] = value;
    return made;
  }

  void add_kubeconfig(CLI::App* made) {
    made->add_option("--kubeconfig", options_.kubeconfig, "Default: the pod's service account");
  }

  void add_serve() {
    auto* serve =
        command("serve", LedgerCommand::kServe, "Enters what GpuJobs have held, until it is stopped");
    add_kubeconfig(serve);
    serve
        ->add_option("--health-bind-address", options_.health_bind_address,
                     "HOST:PORT of /healthz, /readyz and /metrics")
        ->capture_default_str();
    serve->add_option("--readers-bind-address", options_.readers_bind_address,
                      "HOST:PORT for who reads bills and payouts, by TLS only; default: none");
    serve
        ->add_option("--tls-directory", options_.tls_directory,
                     "Holds tls.crt and tls.key; read again when they change")
        ->capture_default_str();
    serve
        ->add_option("--access-cache-seconds", options_.access_cache_seconds,
                     "For how long a reader's right counts before the API server is asked again")
        ->check(CLI::Range(1, kMostCacheSeconds))
        ->capture_default_str();
    serve->add_option("--log-level", log_level_, "debug, info, warning or error")
        ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
        ->capture_default_str();
    add_kubeconfig(command("adopt", LedgerCommand::kAdopt,
                           "Goes on with books that are not those that were published, such as a backup"));
  }

  void add_statement(CLI::App* made, const std::vector<std::string>& formats, const char* help) {
    made->add_option("--month", month_, "For example 2026-11, in UTC; default: this month");
    made->add_option("--format", options_.format, help)->check(CLI::IsMember(formats))->capture_default_str();
  }

  void add_reports() {
    auto* bill = command("bill", LedgerCommand::kBill, "What namespaces pay for a month");
    bill->add_option("--namespace,-n", options_.whose.ns, "Only this one");
    add_statement(bill, {"text", "csv", "json", "focus"}, "text, csv, json, or focus: CSV by FOCUS 1.0");
    auto* payout = command("payout", LedgerCommand::kPayout, "What owners of machines are paid for a month");
    payout->add_option("--owner", options_.whose.owner, "Only this one");
    add_statement(payout, {"text", "csv", "json"}, "text, csv or json");
    auto* machines = command("machines", LedgerCommand::kMachines,
                             "Who has used machines, how long and for what, and how busy they were");
    machines->add_option("--owner", options_.whose.owner, "Only those of this one");
    add_statement(machines, {"text", "json"}, "text or json");
    command("explain", LedgerCommand::kExplain, "How the amounts of a job come about")
        ->add_option("JOB", options_.job, "NAMESPACE/NAME, or its UID")
        ->required();
    command("verify", LedgerCommand::kVerify, "Works the books out anew and names what is wrong")
        ->add_option("--head", head_, "An earlier head, SEQ:HASH: tells whether later entries were cut off");
    command("export", LedgerCommand::kExport,
            "Prints all entries with their hashes and postings, as lines of JSON")
        ->add_option("--after", options_.entry, "Only those after the entry of this number")
        ->check(CLI::NonNegativeNumber);
  }

  void add_amendments() {
    auto* correct = command("correct", LedgerCommand::kCorrect,
                            "Enters that an earlier entry costs something else; nothing is changed");
    correct->add_option("--entry", options_.entry, "Its number, as bill --format csv and explain show it")
        ->required();
    correct->add_option("--to", amount_, "What it costs from now on, such as 1.20; 0: nothing")->required();
    correct->add_option("--reason", options_.reason, "Why; it is shown on the bill")->required();
    command("close", LedgerCommand::kClose,
            "Closes a month that has ended: its bills and payouts stay as they are, and what is entered "
            "later is of a later month")
        ->add_option("--month", month_, "For example 2026-10, in UTC")
        ->required();
  }

  void add_payment() {
    auto* pay =
        command("pay", LedgerCommand::kPay, "Enters that an owner of machines was paid; it moves no money");
    pay->add_option("--owner", options_.whose.owner, "Who was paid")->required();
    pay->add_option("--amount", paid_, "Such as 1.20; -1.20 takes a payment back")->required();
    pay->add_option("--currency", options_.currency, "Such as EUR")->required();
    pay->add_option("--reference", options_.reference, "Of the bank, for example; it is entered only once")
        ->required();
  }

  // What CLI11 does not read itself.
  void take_texts() {
    const auto refuse = [](const char* flag, const std::string& text, const char* what) {
      throw CLI::ValidationError(flag, "\"" + text + "\" is not " + what);
    };
    options_.month = base::parse_month(month_);
    if (!month_.empty() && !options_.month) refuse("--month", month_, "a month such as 2026-11");
    options_.head = parse_head(head_);
    if (!head_.empty() && !options_.head) refuse("--head", head_, "SEQ:HASH, as verify prints it");
    const auto amount = base::parse_micros(amount_);
    if (!amount_.empty() && !amount) refuse("--to", amount_, "an amount such as 1.20");
    const bool back = paid_.starts_with('-');
    const auto paid = base::parse_micros(std::string_view(paid_).substr(back ? 1 : 0));
    if (!paid_.empty() && !paid) refuse("--amount", paid_, "an amount such as 1.20 or -1.20");
    options_.amount = amount ? *amount : paid.value_or(0) * (back ? -1 : 1);
    base::parse_log_level(log_level_, options_.log_level);
  }

  Options options_;
  std::string log_level_ = "info";
  std::string month_;
  std::string head_;
  std::string amount_;  // --to
  std::string paid_;    // --amount
  CLI::App app_{"Keeps the books of what GpuJobs have held, and bills, pays out and checks from them.",
                "gpupool-ledger"};
  std::map<const CLI::App*, LedgerCommand> commands_;
};

}  // namespace

std::variant<Options, int> read_options(int argc, char** argv) { return CommandLine().read(argc, argv); }

}  // namespace gpupool
