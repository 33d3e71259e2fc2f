// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "base/stop_signals.h"
#include "base/unix_seconds.h"
#include "books/books.h"
#include "books/closing.h"
#include "books/correction.h"
#include "books/payment.h"
#include "books/verify.h"
#include "ledger.h"
#include "options.h"
#include "reports/explain.h"
#include "reports/export.h"
#include "reports/machine_report.h"
#include "reports/statement.h"

namespace gpupool {
namespace {

constexpr int kWrong = 1;

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int fail(const base::Error& error) {
  std::fprintf(stderr, "gpupool-ledger: %s\n", error.message.c_str());
  return kWrong;
}

int serve(const Options& options, base::Clock& clock, const std::stop_token& stop) {
  const base::Log log(options.log_level);
  const auto done = serve_ledger(options, clock, log, stop);
  if (done) return 0;
  log.error("cannot keep the books", {{"error", done.error().message}});
  return kWrong;
}

int show_statement(ledger::Books& books, const Options& options, const base::Clock& clock) {
  const auto month = options.month.value_or(base::month_of(base::unix_seconds(clock.wall())));
  const auto statement = ledger::make_statement(books, month, options.whose);
  if (!statement) return fail(statement.error());
  print(ledger::in_format(*statement, options.format));
  return 0;
}

int show_machines(ledger::Books& books, const Options& options, const base::Clock& clock) {
  auto times = ledger::MachineTimes::open_to_read(options.database);
  if (!times) return fail(times.error());
  const auto month = options.month.value_or(base::month_of(base::unix_seconds(clock.wall())));
  const auto report = ledger::make_machine_report(books, *times, month, options.whose.owner);
  if (!report) return fail(report.error());
  print(ledger::in_format(*report, options.format));
  return 0;
}

int verify(ledger::Books& books, const Options& options) {
  const auto verdict = ledger::verify(books, options.head);
  if (!verdict) return fail(verdict.error());
  for (const auto& finding : verdict->findings)
    print((finding.seq > 0 ? "entry " + std::to_string(finding.seq) + ": " : std::string()) + finding.what +
          "\n");
  print(std::to_string(verdict->entries) + " entries, " + std::to_string(verdict->disputed) +
        " of them disputed; " + (verdict->findings.empty() ? "the books are right" : "THE BOOKS ARE WRONG") +
        "\n");
  print("head " + std::to_string(verdict->head.seq) + ":" + verdict->head.hash + "\n");
  return verdict->findings.empty() ? 0 : kWrong;
}

int read_books(const Options& options, const base::Clock& clock) {
  const auto books = ledger::Books::open_to_read(options.database, clock);
  if (!books) return fail(books.error());
  if (options.command == LedgerCommand::kVerify) return verify(**books, options);
  if (options.command == LedgerCommand::kExport) {
    const auto done = ledger::export_entries(**books, options.entry, print);
    return done ? 0 : fail(done.error());
  }
  if (options.command == LedgerCommand::kMachines) return show_machines(**books, options, clock);
  if (options.command != LedgerCommand::kExplain) return show_statement(**books, options, clock);
  const auto text = ledger::explain(**books, options.job);
  if (!text) return fail(text.error());
  print(*text);
  return 0;
}

base::Result<ledger::Entry> add_entry(ledger::Books& books, const Options& options,
                                      const base::Clock& clock) {
  if (options.command == LedgerCommand::kClose)
    return ledger::close_month(books, *options.month, base::unix_seconds(clock.wall()));
  if (options.command == LedgerCommand::kCorrect)
    return ledger::correct(books, options.entry, options.amount, options.reason);
  return ledger::pay(books, {options.whose.owner, options.currency, options.amount, options.reference});
}

int amend(const Options& options, const base::Clock& clock) {
  const auto books = ledger::Books::open_existing(options.database, clock);
  if (!books) return fail(books.error());
  const auto entry = add_entry(**books, options, clock);
  if (!entry) return fail(entry.error());
  print("entry " + std::to_string(entry->seq) + " (" + entry->kind + "): " + entry->body + "\n");
  return 0;
}

int adopt(const Options& options, base::Clock& clock) {
  const auto head = adopt_books(options, clock, base::Log(options.log_level));
  if (!head) return fail(head.error());
  print("adopted the books up to head " + std::to_string(head->seq) + ":" + head->hash + "\n");
  return 0;
}

int run(int argc, char** argv, const std::stop_token& stop) {
  const auto read = read_options(argc, argv);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const auto& options = std::get<Options>(read);
  base::SystemClock clock;
  if (options.command == LedgerCommand::kAdopt) return adopt(options, clock);
  if (options.command == LedgerCommand::kCorrect || options.command == LedgerCommand::kClose ||
      options.command == LedgerCommand::kPay)
    return amend(options, clock);
  return options.command == LedgerCommand::kServe ? serve(options, clock, stop) : read_books(options, clock);
}

}  // namespace
}  // namespace gpupool

int main(int argc, char** argv) {
  std::stop_source stop;
  const gpupool::base::StopSignals signals(stop);
  return gpupool::run(argc, argv, stop.get_token());
}
