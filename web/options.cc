// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

namespace gpupool {
namespace {

constexpr int kUsageError = 2;
constexpr int kMostTabs = 1000;

}  // namespace

std::variant<Options, int> read_options(int argc, char** argv) {
  Options options;
  CLI::App app(
      "The page of gpupool, for a cluster. It has no rights of its own: each visitor's token decides.",
      "gpupool-web");
  app.set_version_flag("--version", GPUPOOL_VERSION);
  app.add_option("--bind-address", options.bind_address, "HOST:PORT of the page, by TLS only")
      ->capture_default_str();
  app.add_option("--health-bind-address", options.health_bind_address, "HOST:PORT of /healthz and /metrics")
      ->capture_default_str();
  app.add_option("--tls-directory", options.tls_directory,
                 "Holds tls.crt and tls.key; read again when they change")
      ->capture_default_str();
  app.add_option("--api-server", options.api_server,
                 "URL of the API server; default: that of the pod's cluster");
  app.add_option("--api-ca", options.api_ca, "File with the certificate authority of the API server")
      ->capture_default_str();
  auto* keeper =
      app.add_option("--keeper", options.keeper,
                     "URL of gpupool-keeper, for logs whose pods are gone; visitors' tokens are passed on");
  auto* keeper_ca =
      app.add_option("--keeper-ca", options.keeper_ca, "File with its certificate, or of who signed it");
  keeper->needs(keeper_ca);
  keeper_ca->needs(keeper);
  auto* ledger =
      app.add_option("--ledger", options.ledger,
                     "URL of gpupool-ledger, for the bills of months; visitors' tokens are passed on");
  auto* ledger_ca =
      app.add_option("--ledger-ca", options.ledger_ca, "File with its certificate, or of who signed it");
  ledger->needs(ledger_ca);
  ledger_ca->needs(ledger);
  app.add_option("--host", options.hosts,
                 "A name under which the page is reached; may be given several times")
      ->required();
  app.add_option("--mode", options.mode,
                 "token: visitors enter a token; proxy: a proxy in front adds Authorization: Bearer")
      ->check(CLI::IsMember({"token", "proxy"}))
      ->capture_default_str();
  app.add_option("--namespace", options.ns, "Where visitors begin who may not list all namespaces")
      ->capture_default_str();
  app.add_option("--tabs", options.tabs, "Tabs that are served at a time")
      ->check(CLI::Range(1, kMostTabs))
      ->capture_default_str();
  app.add_option("--log-level", options.log_level, "debug, info, warning or error")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  return options;
}

}  // namespace gpupool
