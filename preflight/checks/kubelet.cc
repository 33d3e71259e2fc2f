// SPDX-License-Identifier: Apache-2.0
#include "checks/kubelet.h"

namespace gpupool::checks {
namespace {

void judge_socket(const UnixSocket& socket, const std::string& path, const std::string& what,
                  Judgement& judgement) {
  if (socket.answers) {
    judgement.note(what);
    return;
  }
  judgement.fail(
      path + (socket.exists ? " does not answer" : " does not exist"),
      "systemctl restart kubelet; journalctl -u kubelet; if its directory is another: --kubelet-directory");
}

}  // namespace

Finding judge_kubelet(const KubeletFacts& facts) {
  Judgement judgement("kubelet");
  if (!facts.runs()) {
    if (facts.configured) {
      judgement.warn("there is a kubelet in " + facts.directory + ", but it does not run",
                     "systemctl enable --now kubelet; journalctl -u kubelet");
    } else {
      judgement.note("not installed yet");
    }
    return judgement.finding();
  }
  judgement.note("runs");
  judge_socket(facts.device_plugins, facts.directory + "/device-plugins/kubelet.sock", "takes device plugins",
               judgement);
  judge_socket(facts.pod_resources, facts.directory + "/pod-resources/kubelet.sock",
               "tells which pod has which GPU", judgement);
  return judgement.finding();
}

}  // namespace gpupool::checks
