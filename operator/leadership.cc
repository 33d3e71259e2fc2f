// SPDX-License-Identifier: Apache-2.0
#include "leadership.h"

#include <random>

#include "api/v1alpha1/data_version.h"
#include "transport_factory.h"

namespace gpupool {
namespace {

using std::chrono::milliseconds;

milliseconds in_milliseconds(base::Duration duration) {
  return std::chrono::duration_cast<milliseconds>(duration);
}

// Two programs on one host, or a restarted program, are different candidates.
std::string unique_identity(const std::string& instance) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::random_device random;
  std::string identity = instance + "_";
  for (int i = 0; i < 32; ++i) identity += kDigits[random() % 16];
  return identity;
}

std::string lease_namespace(const Options& options, const kube::RestConfig& config) {
  if (!options.election.ns.empty()) return options.election.ns;
  return config.ns.empty() ? "default" : config.ns;  // like kubectl
}

runtime::DataVersion stored_data() {
  return {
      api::kDataVersionAnnotation, api::kDataVersion,
      "A newer gpupool-operator has worked here and stored what this one would lose; install a version that "
      "knows it, see docs/upgrade.md"};
}

}  // namespace

Leadership::Leadership(const Options& options, const kube::RestConfig& config, const std::string& instance,
                       base::Metrics& metrics, const base::Log& log) {
  if (!options.election.enabled) return;
  wire_ =
      make_transport(config.endpoint, "gpupool-operator/" GPUPOOL_VERSION " (leader-election)", metrics, log);
  limited_.emplace(*wire_,
                   [this](const net::HttpRequest&) { return in_milliseconds(elector_->request_limit()); });
  kube::ClientOptions client_options;
  client_options.impersonate_user = config.impersonate_user;
  client_options.impersonate_groups = config.impersonate_groups;
  client_options.max_tries = 1;  // the election repeats calls itself
  client_.emplace(*limited_, config.tokens.get(), clock_, metrics, client_options);
  elector_.emplace(*client_, api::ObjectKey{lease_namespace(options, config), options.election.name},
                   unique_identity(instance), options.election.times, stored_data(), clock_, metrics, log);
}

std::optional<milliseconds> Leadership::budget(const net::HttpRequest& request) const {
  if (!elector_ || request.method == "GET") return std::nullopt;
  const auto left = elector_->term_left();
  return left ? in_milliseconds(*left) : milliseconds::zero();
}

}  // namespace gpupool
