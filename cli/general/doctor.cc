// SPDX-License-Identifier: Apache-2.0
#include "general/doctor.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "base/json.h"
#include "command/problem.h"
#include "kube/config/environment.h"
#include "screen/plain_text.h"

namespace gpupool::general {

struct AccessStatus {
  bool allowed = false;
};
struct AccessReview {
  AccessStatus status;
};
struct ClusterVersion {
  std::string git_version;
};

}  // namespace gpupool::general

template <>
struct gpupool::base::json::Schema<gpupool::general::AccessStatus> {
  static constexpr auto fields = std::array{field<&general::AccessStatus::allowed>("allowed")};
};
template <>
struct gpupool::base::json::Schema<gpupool::general::AccessReview> {
  static constexpr auto fields = std::array{field<&general::AccessReview::status>("status")};
};
template <>
struct gpupool::base::json::Schema<gpupool::general::ClusterVersion> {
  static constexpr auto fields = std::array{field<&general::ClusterVersion::git_version>("gitVersion")};
};

namespace gpupool::general {
namespace {

constexpr api::ResourceType kReview{"authorization.k8s.io", "v1", "selfsubjectaccessreviews",
                                    "SelfSubjectAccessReview", false};
constexpr std::chrono::minutes kStale{2};

struct Right {
  const char* verb;
  const char* group;
  const char* resource;
  const char* subresource;
  const char* needed_for;
};

constexpr std::array kRights{
    Right{"list", "gpupool.dev", "gpujobs", "", "list"},
    Right{"create", "gpupool.dev", "gpujobs", "", "run"},
    Right{"patch", "gpupool.dev", "gpujobs", "", "suspend, resume, priority"},
    Right{"delete", "gpupool.dev", "gpujobs", "", "cancel"},
    Right{"create", "", "configmaps", "", "run with a script"},
    Right{"list", "", "pods", "", "describe, shell, top JOB"},
    Right{"get", "", "pods", "log", "logs"},
    Right{"create", "", "pods", "exec", "shell"},
    Right{"list", "", "events", "", "describe"},
};

// "ok    name           text", in the form of gpupool-preflight.
class Findings {
 public:
  explicit Findings(std::ostream& out) : out_(out) {}
  void ok(const char* name, const std::string& text) { line("ok", name, text); }
  void warn(const char* name, const std::string& text, const std::string& remedy) {
    line("warn", name, text, remedy);
  }
  void fail(const char* name, const std::string& text, const std::string& remedy) {
    line("FAIL", name, text, remedy);
    failed_ = true;
  }
  bool failed() const { return failed_; }

 private:
  void line(const char* verdict, const char* name, const std::string& text, const std::string& remedy = "") {
    static constexpr std::size_t kVerdict = 6;
    static constexpr std::size_t kName = 14;
    const std::string verdict_text(verdict);
    const std::string name_text(name);
    out_ << verdict_text << std::string(kVerdict - verdict_text.size(), ' ') << name_text
         << std::string(kName - name_text.size(), ' ') << screen::plain_text(text) << "\n";
    if (!remedy.empty())
      out_ << std::string(kVerdict + kName, ' ') << "-> " << screen::plain_text(remedy) << "\n";
    out_.flush();
  }

  std::ostream& out_;
  bool failed_ = false;
};

std::string in_path(const std::string& program) {
  const std::string path = kube::environment("PATH");
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const auto end = std::min(path.find(':', begin), path.size());
    const std::string file = path.substr(begin, end - begin) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return "";
}

std::string message_of(const base::Error& error) {
  std::string text = command::problem_text(error);
  text.pop_back();
  return text;
}

void look_at_path(Findings& found) {
  if (in_path("kubectl").empty()) {
    found.warn("kubectl", "kubectl is not in the PATH: shell needs it",
               "https://kubernetes.io/docs/tasks/tools/");
  } else {
    found.ok("kubectl", in_path("kubectl"));
  }
  if (in_path("kubectl_complete-gpupool").empty()) {
    found.warn("completion", "kubectl_complete-gpupool is not in the PATH: kubectl cannot complete names",
               "ln -s \"$(command -v kubectl-gpupool)\" ~/.local/bin/kubectl_complete-gpupool");
  } else {
    found.ok("completion", in_path("kubectl_complete-gpupool"));
  }
}

// False if the server does not answer: nothing else is worth a look.
bool look_at_server(command::Session& session, Findings& found, const std::stop_token& stop) {
  const auto begin = session.clock().now();
  const auto version = kube::decode<ClusterVersion>(session.client().get_path("/version", stop));
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(session.clock().now() - begin);
  if (!version) {
    found.fail("api-server", message_of(version.error()), "kubectl cluster-info; another --context");
    return false;
  }
  found.ok("api-server", session.server() + " answered in " + std::to_string(took.count()) +
                             " ms, Kubernetes " + version->git_version);
  return true;
}

void look_at_pools(command::Session& session, Findings& found, const std::stop_token& stop) {
  const auto pools = kube::list<api::GpuPool>(session.client(), "", {.resource_version = "0"}, stop);
  if (!pools && pools.error().code == base::ErrorCode::kForbidden) {
    found.warn("pools", message_of(pools.error()),
               "an administrator binds the ClusterRole gpupool-pool-viewer");
    return;
  }
  if (!pools) {
    found.fail("pools", message_of(pools.error()), "install gpupool in this cluster: docs/install.md");
    return;
  }
  if (pools->empty()) {
    found.warn("pools", "there is no GpuPool", "docs/install.md#pools");
    return;
  }
  for (const auto& pool : *pools) {
    const auto* ready = api::find_condition(pool.status.conditions, "Ready");
    if (ready == nullptr) {
      found.fail("pools", pool.metadata.name + " has no status: the operator does not run",
                 "kubectl -n gpupool-system get deployments");
    } else if (ready->status != "True") {
      found.warn("pools",
                 pool.metadata.name + " is not ready: " + std::string(ready->reason) + " " +
                     std::string(ready->message),
                 "docs/operations.md explains the reason");
    } else {
      found.ok("pools", pool.metadata.name + ": " + std::to_string(pool.status.nodes.available) + " of " +
                            std::to_string(pool.status.nodes.total) + " nodes available");
    }
  }
}

void look_at_reports(command::Session& session, Findings& found, const std::stop_token& stop) {
  const auto nodes = kube::list<api::GpuNode>(session.client(), "", {.resource_version = "0"}, stop);
  if (!nodes) {
    found.warn("reports", message_of(nodes.error()), "without GpuNodes, top shows nothing");
    return;
  }
  std::vector<std::string> late;
  for (const auto& node : *nodes) {
    if (!node.status.last_report || session.clock().wall() - *node.status.last_report > kStale) {
      late.push_back(node.metadata.name);
    }
  }
  if (nodes->empty()) {
    found.warn("reports", "no node reports GPUs: top shows nothing",
               "install the device plugin: docs/install.md");
  } else if (!late.empty()) {
    found.warn("reports",
               std::to_string(late.size()) + " of " + std::to_string(nodes->size()) +
                   " nodes have not reported for 2 minutes, such as " + late.front(),
               "kubectl -n gpupool-system get pods -o wide");
  } else {
    found.ok("reports", std::to_string(nodes->size()) + " nodes report their GPUs");
  }
}

void look_at_rights(command::Session& session, Findings& found, const std::stop_token& stop) {
  for (const Right& right : kRights) {
    const auto quoted = [](const std::string& text) { return base::json::quote(text); };
    const std::string body =
        R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"namespace":)" +
        quoted(session.ns()) + R"(,"verb":)" + quoted(right.verb) + R"(,"group":)" + quoted(right.group) +
        R"(,"resource":)" + quoted(right.resource) + R"(,"subresource":)" + quoted(right.subresource) + "}}}";
    const auto review = kube::decode<AccessReview>(session.client().create(kReview, "", body, stop));
    const std::string what = std::string(right.verb) + " " + right.resource +
                             (*right.subresource == 0 ? "" : "/") + right.subresource + " in namespace " +
                             session.ns();
    if (!review) {
      found.warn("rights", message_of(review.error()), "");
      return;
    }
    if (review->status.allowed) continue;
    found.warn("rights", "you may not " + what + "; needed for: " + right.needed_for,
               "an administrator binds the ClusterRole gpupool-renter in this namespace");
  }
  found.ok("rights", "looked at " + std::to_string(kRights.size()) + " rights in namespace " + session.ns());
}

class Doctor final : public command::Command {
 public:
  explicit Doctor(std::string own) : own_(std::move(own)) {}

  Manual manual() const override {
    return {.name = "doctor",
            .summary = "Find out why commands do not work",
            .text =
                "Looks at the PATH, the kubeconfig, the API server, gpupool in the cluster and the rights of "
                "the caller.\n"
                "Changes nothing. Ends with 1 if something is missing without which nothing works."};
  }

  void add_flags(command::Flags&) override {}

  base::Result<int> run(command::Context& context) override {
    Findings found(context.out);
    found.ok("version", "kubectl-gpupool " + own_);
    look_at_path(found);
    const auto session = context.session();
    if (!session) {
      found.fail("kubeconfig", session.error().message, "set KUBECONFIG, or give --kubeconfig and --context");
    } else if (look_at_server(**session, found, context.stop)) {
      look_at_pools(**session, found, context.stop);
      look_at_reports(**session, found, context.stop);
      look_at_rights(**session, found, context.stop);
    }
    return found.failed() ? command::exit_code::kError : command::exit_code::kGood;
  }

 private:
  std::string own_;
};

}  // namespace

std::unique_ptr<command::Command> make_doctor(std::string own_version) {
  return std::make_unique<Doctor>(std::move(own_version));
}

}  // namespace gpupool::general
