// SPDX-License-Identifier: Apache-2.0
#include "general/version.h"

#include <array>
#include <utility>

#include "base/json.h"
#include "screen/plain_text.h"

namespace gpupool::general {

struct ServerVersion {
  std::string git_version;
};

}  // namespace gpupool::general

template <>
struct gpupool::base::json::Schema<gpupool::general::ServerVersion> {
  static constexpr auto fields = std::array{field<&general::ServerVersion::git_version>("gitVersion")};
};

namespace gpupool::general {
namespace {

class Version final : public command::Command {
 public:
  explicit Version(std::string own) : own_(std::move(own)) {}

  Manual manual() const override {
    return {.name = "version",
            .summary = "Print the versions of this program and of the cluster",
            .text = "Without --client it asks the API server for its version."};
  }

  void add_flags(command::Flags& flags) override {
    flags.yes("--client", client_only_, "Only the version of this program; asks no server");
    flags.choice("-o,--output", output_, {"json"}, "Print JSON");
  }

  base::Result<int> run(command::Context& context) override {
    std::string server;
    if (!client_only_) {
      const auto session = context.session();
      if (!session) return tl::unexpected<base::Error>(session.error());
      const auto asked = ask((*session)->client(), context.stop);
      if (!asked) return tl::unexpected<base::Error>(asked.error());
      server = *asked;
    }
    print(context.out, server);
    return command::exit_code::kGood;
  }

 private:
  static base::Result<std::string> ask(kube::Client& client, const std::stop_token& stop) {
    const auto answer = kube::decode<ServerVersion>(client.get_path("/version", stop));
    if (!answer) return tl::unexpected<base::Error>(answer.error());
    return answer->git_version;
  }

  void print(std::ostream& out, const std::string& server) const {
    if (output_ == "json") {
      out << R"({"apiVersion":"cli.gpupool.dev/v1","kind":"Version","client":)" << base::json::quote(own_);
      if (!client_only_) out << R"(,"kubernetes":)" << base::json::quote(server);
      out << "}\n";
      return;
    }
    out << "gpupool: " << own_ << "\n";
    if (!client_only_) out << "Kubernetes: " << screen::plain_text(server) << "\n";
  }

  std::string own_;
  bool client_only_ = false;
  std::string output_;
};

}  // namespace

std::unique_ptr<command::Command> make_version(std::string own_version) {
  return std::make_unique<Version>(std::move(own_version));
}

}  // namespace gpupool::general
