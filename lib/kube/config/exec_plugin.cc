// SPDX-License-Identifier: Apache-2.0
#include "kube/config/exec_plugin.h"

#include <utility>

#include "kube/config/run_command.h"

namespace gpupool::kube {
namespace {

// A credential is replaced this long before it expires, so that it does not expire during a request.
constexpr std::chrono::seconds kLeeway{10};

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return {};
  const auto begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

ExecPlugin::ExecPlugin(std::string where, KubeExec exec, std::string info, base::Clock& clock,
                       std::chrono::milliseconds timeout)
    : where_(std::move(where)),
      exec_(std::move(exec)),
      info_(std::move(info)),
      clock_(clock),
      timeout_(timeout) {}

base::Result<std::string> ExecPlugin::token(std::stop_token stop) {
  auto current = credential(std::move(stop));
  if (!current) return tl::unexpected<base::Error>(current.error());
  return std::move(current->token);
}

void ExecPlugin::invalidate(const std::string& rejected) {
  const base::MutexLock lock(mutex_);
  if (credential_ && credential_->token == rejected) rejected_ = true;
}

base::Result<void> ExecPlugin::add_certificate(net::TlsMaterial& material) {
  auto current = credential({});
  if (!current) return tl::unexpected<base::Error>(current.error());
  if (current->client_cert_pem.empty()) return {};
  material.client_cert_pem = std::move(current->client_cert_pem);
  material.client_key_pem = std::move(current->client_key_pem);
  return {};
}

bool ExecPlugin::is_valid_for(base::Duration how_long) const {
  if (!credential_ || rejected_) return false;
  return clock_.wall() + how_long < credential_->expires.value_or(base::WallTime::max());
}

base::Result<ExecCredential> ExecPlugin::credential(std::stop_token stop) {
  base::MutexLock lock(mutex_);
  if (!ended_.wait(lock.native(), stop, [this]() GPUPOOL_REQUIRES(mutex_) { return !running_; })) {
    return base::fail(base::ErrorCode::kCancelled, where_ + ".exec: cancelled");
  }
  if (is_valid_for(kLeeway) && credential_) return *credential_;
  running_ = true;
  lock.unlock();
  auto fresh = run(std::move(stop));
  lock.lock();
  running_ = false;
  ended_.notify_all();
  if (fresh) {
    credential_ = *fresh;
    rejected_ = false;
  } else if (is_valid_for(base::Duration::zero()) && credential_) {
    return *credential_;
  }
  return fresh;
}

base::Result<ExecCredential> ExecPlugin::run(std::stop_token stop) const {
  Command command;
  command.argv.push_back(exec_.command);
  command.argv.insert(command.argv.end(), exec_.args.begin(), exec_.args.end());
  command.env = exec_.env;
  command.env.emplace_back("KUBERNETES_EXEC_INFO", info_);
  command.timeout = timeout_;
  const std::string where = where_ + ".exec: ";
  auto result = run_command(command, std::move(stop));
  if (!result) {
    base::Error error = result.error();
    if (error.code == base::ErrorCode::kNotFound) {
      // Not kNotFound, which means that an object does not exist.
      error.code = base::ErrorCode::kIo;
      if (!exec_.install_hint.empty()) error.message += "; " + exec_.install_hint;
    } else {
      error.message = exec_.command + " " + error.message;
    }
    error.message = where + error.message;
    return tl::unexpected<base::Error>(std::move(error));
  }
  if (result->exit_code != 0) {
    std::string message = where + exec_.command + " exited with " + std::to_string(result->exit_code);
    if (const std::string line = last_line(result->err); !line.empty()) message += ": " + line;
    return base::fail(base::ErrorCode::kIo, std::move(message));
  }
  auto credential = parse_exec_credential(result->out, exec_.api_version);
  if (!credential) return base::in_context(credential.error(), where + exec_.command);
  return credential;
}

}  // namespace gpupool::kube
