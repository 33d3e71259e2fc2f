// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// A kubeconfig as plain structs. Pure: text in, structs out. The fields are those of client-go's
// clientcmd/api/v1.
namespace gpupool::kube {

// Bytes that are in the kubeconfig or in a separate file.
struct KubeData {
  std::string where;  // "FILE: clusters[lab].certificate-authority", for messages
  std::string text;   // decoded; has precedence over path
  std::string path;   // resolved against the kubeconfig's directory
  bool empty() const { return text.empty() && path.empty(); }
};

struct KubeCluster {
  std::string where;  // "FILE: clusters[NAME]"
  std::string server;
  KubeData ca;
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;
  std::string proxy_url;
  bool disable_compression = false;
};

struct KubeExec {
  std::string api_version = {};
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  std::string install_hint = {};
  std::string interactive_mode = {};
  bool provide_cluster_info = false;
};

struct KubeUser {
  std::string where;  // "FILE: users[NAME]"
  std::string token;
  std::string token_file;
  KubeData client_cert;
  KubeData client_key;
  std::string username;
  std::string impersonate_user;
  std::vector<std::string> impersonate_groups;
  bool impersonates_more = false;  // as-uid or as-user-extra
  bool has_auth_provider = false;
  std::optional<KubeExec> exec;
};

struct KubeContext {
  std::string where;  // "FILE: contexts[NAME]"
  std::string cluster;
  std::string user;
  std::string ns;
};

struct Kubeconfig {
  std::string current_context;
  std::map<std::string, KubeCluster> clusters;
  std::map<std::string, KubeUser> users;
  std::map<std::string, KubeContext> contexts;
};

// path: the file of the text. Errors contain it, and relative paths in the text are below its directory.
// Errors name file and key. A text without content is an empty Kubeconfig.
base::Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path);

// Adds the entries that `into` does not have; whole entries, never single fields (as kubectl merges the files
// of KUBECONFIG).
void merge_kubeconfig(Kubeconfig& into, Kubeconfig from);

}  // namespace gpupool::kube
