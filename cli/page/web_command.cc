// SPDX-License-Identifier: Apache-2.0
#include "page/web_command.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "command/keeper.h"
#include "command/ledger.h"
#include "server/visitor_key.h"
#include "server/web_server.h"

namespace gpupool::page {
namespace {

class Web final : public command::Command {
 public:
  explicit Web(std::string version) : version_(std::move(version)) {}

  Manual manual() const override {
    return {.name = "web",
            .summary = "Show pools, jobs and live logs in a browser",
            .text =
                "Serves a page on 127.0.0.1 and prints its address. Whoever has the address can see and do "
                "what your\n"
                "kubeconfig allows, as long as this runs. Ctrl-C ends it.",
            .example =
                "  kubectl gpupool web\n"
                "  kubectl gpupool web --port 8001 -n lab"};
  }

  void add_flags(command::Flags& flags) override {
    flags.number("--port", port_, "PORT", "Port on 127.0.0.1 (default: a free one)", 1, 65535);
    command::add_keeper_flag(flags, keeper_);
    command::add_ledger_flag(flags, ledger_);
  }

  base::Result<int> run(command::Context& context) override {
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    auto key = web::new_visitor_key();
    if (!key) return tl::unexpected<base::Error>(key.error());
    const auto kept = command::find_keeper(keeper_, context);
    if (!kept && !keeper_.empty()) return tl::unexpected<base::Error>(kept.error());
    auto ledger = command::ledger_prefix(ledger_, context);
    if (!ledger && !ledger_.empty()) return tl::unexpected<base::Error>(ledger.error());
    if (ledger && ledger_.empty()) {  // is there one?
      const auto asked = (*session)->client().get_path(*ledger + "/v1", context.stop);
      if (!asked && command::no_way_to_ledger(asked.error())) ledger->clear();
    }
    web::KeyVisitors visitors(*key, (*session)->client(),
                              kept ? std::make_shared<const logs::KeptLogs>(*kept) : nullptr,
                              ledger.value_or(""));
    const auto server = web::WebServer::start({.bind = "127.0.0.1:" + std::to_string(port_.value_or(0)),
                                               .hosts = {"127.0.0.1", "localhost"},
                                               .ns = (*session)->ns(),
                                               .version = version_},
                                              visitors, (*session)->clock());
    if (!server) return tl::unexpected<base::Error>(server.error());
    context.out << "http://127.0.0.1:" << (*server)->port() << "/#k=" << *key << std::endl;
    context.err << "Open this address in a browser on this machine. Ctrl-C ends it.\n";
    while ((*session)->clock().sleep_for(std::chrono::hours(1), context.stop)) {
    }
    return command::exit_code::kGood;
  }

 private:
  std::string version_;
  std::optional<std::int64_t> port_;
  std::string keeper_;
  std::string ledger_;
};

}  // namespace

std::unique_ptr<command::Command> make_web(const std::string& version) {
  return std::make_unique<Web>(version);
}

}  // namespace gpupool::page
