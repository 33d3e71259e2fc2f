// SPDX-License-Identifier: Apache-2.0
#include "jobs/list_finished.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "command/keeper.h"
#include "objects/output.h"
#include "screen/bytes.h"
#include "screen/plain_text.h"
#include "screen/table.h"

namespace gpupool::jobs {
namespace {

using logs::KeptAttempt;

std::string outcome_of(const KeptAttempt& attempt) {
  if (attempt.outcome == "exited") return "exit code " + std::to_string(attempt.exit_code);
  return attempt.outcome;
}

std::string json_of(const std::vector<KeptAttempt>& attempts) {
  auto items = nlohmann::ordered_json::array();
  for (const KeptAttempt& one : attempts)
    items.push_back({{"name", one.job},
                     {"uid", one.uid},
                     {"attempt", one.attempt},
                     {"pool", one.pool},
                     {"ranks", one.ranks},
                     {"begin", one.begin},
                     {"end", one.end},
                     {"outcome", one.outcome},
                     {"exitCode", one.exit_code},
                     {"logBytes", one.bytes},
                     {"lostBytes", one.lost}});
  const nlohmann::ordered_json list{
      {"apiVersion", objects::kOutputVersion}, {"kind", "FinishedAttemptList"}, {"items", std::move(items)}};
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string table_of(const std::vector<KeptAttempt>& attempts, bool wide, const screen::Terminal& terminal) {
  std::vector<screen::Column> columns;
  for (const char* title : {"NAME", "ATTEMPT", "POOL", "RANKS", "ENDED", "OUTCOME", "LOG", "LOST"})
    columns.push_back({title});
  columns.push_back({"UID", wide ? std::size_t{0} : std::size_t{8}});
  screen::Table table(std::move(columns));
  for (const KeptAttempt& one : attempts)
    table.add({{one.job},
               {std::to_string(one.attempt)},
               {one.pool},
               {std::to_string(one.ranks)},
               {one.end},
               {outcome_of(one)},
               {screen::bytes_text(one.bytes)},
               {one.lost > 0 ? screen::bytes_text(one.lost) : ""},
               {one.uid}});
  return table.text(terminal);
}

}  // namespace

base::Result<int> list_finished(const FinishedOptions& options, command::Context& context) {
  const auto session = context.session();
  if (!session) return tl::unexpected<base::Error>(session.error());
  const auto keeper = command::find_keeper(options.keeper, context);
  if (!keeper) return tl::unexpected<base::Error>(keeper.error());
  const std::string ns = (*session)->ns();
  auto attempts = keeper->attempts(ns, "", "", context.stop);
  if (!attempts)
    return tl::unexpected<base::Error>(
        command::keeper_problem(attempts.error(), "finished jobs cannot be listed"));
  std::erase_if(*attempts, [&](const KeptAttempt& one) {
    return one.end.empty() || (!options.pool.empty() && one.pool != options.pool);
  });
  if (options.output == "json" || options.output == "yaml") {
    context.out << objects::printed(json_of(*attempts), options.output);
  } else if (options.output == "name") {
    for (const KeptAttempt& one : *attempts)
      context.out << "gpujob.gpupool.dev/" << screen::plain_text(one.job) << "\n";
  } else if (attempts->empty()) {
    context.err << "The keeper of logs has nothing of finished jobs in " << ns << " namespace.\n";
  } else {
    context.out << table_of(*attempts, options.output == "wide", context.terminal);
  }
  return command::exit_code::kGood;
}

}  // namespace gpupool::jobs
