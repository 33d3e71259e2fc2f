// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "command/general_flags.h"
#include "kube/client.h"

namespace gpupool::command {

// The connection of one run of the program to one API server, with the caller's identity. Thread-safe.
class Session {
 public:
  // Reads the kubeconfig, and runs its exec plugin with the first request. Nothing is sent yet. REQUIRES:
  // local outlives the session.
  static base::Result<std::unique_ptr<Session>> open(const GeneralFlags& flags, base::Clock& local);
  // On a transport of a test.
  Session(net::Transport& transport, base::Clock& clock, std::string ns);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  kube::Client& client();
  // --namespace, or the context's, or "default".
  const std::string& ns() const;
  // The server's URL, for messages.
  const std::string& server() const;
  // Its wall time is the server's once something was received: ages are right on a machine with a wrong
  // clock.
  base::Clock& clock();

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpupool::command
