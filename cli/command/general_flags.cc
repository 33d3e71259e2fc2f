// SPDX-License-Identifier: Apache-2.0
#include "command/general_flags.h"

namespace gpupool::command {

void add_general_flags(Flags& flags, GeneralFlags& values) {
  flags.begin_general();
  flags.text("-n,--namespace", values.ns, "NAMESPACE", "Namespace of the job; default: the context's",
             Offer::kNamespaces);
  flags.text("--context", values.context, "NAME", "Context of the kubeconfig", Offer::kContexts);
  flags.text("--kubeconfig", values.kubeconfig, "FILE",
             "Kubeconfig; default: $KUBECONFIG, then ~/.kube/config", Offer::kFiles);
  flags.text("--as", values.as, "USER", "Act as this user");
  flags.texts("--as-group", values.as_groups, "GROUP", "Act as a member of this group; may be repeated");
  flags.duration("--request-timeout", values.request_timeout, "Longest time of one request, such as 30s");
}

}  // namespace gpupool::command
