// SPDX-License-Identifier: Apache-2.0
#include "kube/config/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "kube/config/base64.h"
#include "kube/config/resolve_path.h"

namespace gpupool::kube {
namespace {

// Thrown only inside this file; parse_kubeconfig turns it into an error.
struct BadKubeconfig {
  std::string message;
};

[[noreturn]] void reject(const std::string& where, const std::string& what) {
  throw BadKubeconfig{where + " " + what};
}

std::string scalar(const YAML::Node& node, const std::string& where) {
  if (!node || node.IsNull()) return {};
  if (!node.IsScalar()) reject(where, "is not a string");
  return node.Scalar();
}

// One mapping of the file and its location, so that every error can name the key.
class Entry {
 public:
  Entry(const YAML::Node& node, std::string where, std::string directory)
      : node_(node), where_(std::move(where)), directory_(std::move(directory)) {
    if (!node_.IsMap()) reject(where_, "is not a mapping");
  }

  const std::string& where() const { return where_; }
  bool has(const char* key) const { return node_[key] && !node_[key].IsNull(); }
  YAML::Node child(const char* key) const { return node_[key]; }
  std::string place(const char* key) const { return where_ + "." + key; }
  std::string text(const char* key) const { return scalar(node_[key], place(key)); }
  Entry entry(const char* key) const { return {node_[key], place(key), directory_}; }

  bool flag(const char* key) const {
    const std::string value = text(key);
    if (value.empty() || value == "false") return false;
    if (value != "true") reject(place(key), "is '" + value + "': use true or false");
    return true;
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> values;
    if (!has(key)) return values;
    if (!node_[key].IsSequence()) reject(place(key), "is not a list");
    for (const YAML::Node& item : node_[key]) values.push_back(scalar(item, place(key)));
    return values;
  }

  std::string path(const char* key) const {
    const std::string value = text(key);
    return value.empty() ? value : resolve_path(directory_, value);
  }

  // KEY contains a path, KEY-data the bytes in base64.
  KubeData data(const char* key) const {
    const std::string inline_key = std::string(key) + "-data";
    const std::string encoded = text(inline_key.c_str());
    if (encoded.empty()) return {.where = place(key), .text = {}, .path = path(key)};
    auto decoded = base64_decode(encoded);
    if (!decoded) reject(place(inline_key.c_str()), "is not base64 (or cut short)");
    return {.where = place(inline_key.c_str()), .text = std::move(*decoded), .path = {}};
  }

  // A command with a slash is a path; without one it is looked up in PATH.
  std::string command(const char* key) const {
    const std::string value = text(key);
    return value.find('/') == std::string::npos ? value : resolve_path(directory_, value);
  }

 private:
  YAML::Node node_;
  std::string where_;
  std::string directory_;
};

KubeCluster read_cluster(const Entry& entry) {
  return {.where = entry.where(),
          .server = entry.text("server"),
          .ca = entry.data("certificate-authority"),
          .insecure_skip_tls_verify = entry.flag("insecure-skip-tls-verify"),
          .tls_server_name = entry.text("tls-server-name"),
          .proxy_url = entry.text("proxy-url"),
          .disable_compression = entry.flag("disable-compression")};
}

KubeExec read_exec(const Entry& entry) {
  KubeExec exec{.api_version = entry.text("apiVersion"),
                .command = entry.command("command"),
                .args = entry.texts("args"),
                .env = {},
                .install_hint = entry.text("installHint"),
                .interactive_mode = entry.text("interactiveMode"),
                .provide_cluster_info = entry.flag("provideClusterInfo")};
  if (!entry.has("env")) return exec;
  if (!entry.child("env").IsSequence()) reject(entry.place("env"), "is not a list");
  for (const YAML::Node& item : entry.child("env")) {
    const Entry variable(item, entry.place("env"), "");
    if (variable.text("name").empty()) reject(entry.place("env"), "has an entry without a name");
    exec.env.emplace_back(variable.text("name"), variable.text("value"));
  }
  return exec;
}

KubeUser read_user(const Entry& entry) {
  KubeUser user{.where = entry.where(),
                .token = entry.text("token"),
                .token_file = entry.path("tokenFile"),
                .client_cert = entry.data("client-certificate"),
                .client_key = entry.data("client-key"),
                .username = entry.text("username"),
                .impersonate_user = entry.text("as"),
                .impersonate_groups = entry.texts("as-groups"),
                .impersonates_more = entry.has("as-uid") || entry.has("as-user-extra"),
                .has_auth_provider = entry.has("auth-provider"),
                .exec = std::nullopt};
  if (entry.has("exec")) user.exec = read_exec(entry.entry("exec"));
  return user;
}

KubeContext read_context(const Entry& entry) {
  return {.where = entry.where(),
          .cluster = entry.text("cluster"),
          .user = entry.text("user"),
          .ns = entry.text("namespace")};
}

// Reads a list such as clusters: [{name: NAME, cluster: {...}}].
template <class T>
std::map<std::string, T> read_named(const YAML::Node& root, const char* list, const char* key,
                                    const std::string& path, T (*read)(const Entry&)) {
  std::map<std::string, T> entries;
  const YAML::Node items = root[list];
  const std::string where = path + ": " + list;
  if (!items || items.IsNull()) return entries;
  if (!items.IsSequence()) reject(where, "is not a list");
  const std::string directory = std::filesystem::path(path).parent_path().string();
  for (const YAML::Node& item : items) {
    if (!item.IsMap()) reject(where, "has an entry that is not a mapping");
    const std::string name = scalar(item["name"], where + ".name");
    if (name.empty()) reject(where, "has an entry without a name");
    std::string place = where;
    place.append("[").append(name).append("]");
    if (!item[key] || item[key].IsNull()) reject(place, std::string("has no '") + key + "'");
    if (!entries.emplace(name, read(Entry(item[key], place, directory))).second)
      reject(place, "is there twice");
  }
  return entries;
}

Kubeconfig read_root(const YAML::Node& root, const std::string& path) {
  Kubeconfig config;
  if (!root || root.IsNull()) return config;
  if (!root.IsMap()) reject(path + ":", "is not a kubeconfig (no mapping at the top)");
  const std::string kind = scalar(root["kind"], path + ": kind");
  if (!kind.empty() && kind != "Config") reject(path + ": kind", "is '" + kind + "', not Config");
  config.current_context = scalar(root["current-context"], path + ": current-context");
  config.clusters = read_named<KubeCluster>(root, "clusters", "cluster", path, read_cluster);
  config.users = read_named<KubeUser>(root, "users", "user", path, read_user);
  config.contexts = read_named<KubeContext>(root, "contexts", "context", path, read_context);
  return config;
}

}  // namespace

base::Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path) {
  try {
    return read_root(YAML::Load(std::string(text)), path);
  } catch (const BadKubeconfig& error) {
    return base::fail(base::ErrorCode::kInvalidArgument, error.message);
  } catch (const YAML::Exception& error) {
    return base::fail(base::ErrorCode::kParse, path + ": is not YAML, or cut short: " + error.what());
  }
}

void merge_kubeconfig(Kubeconfig& into, Kubeconfig from) {
  if (into.current_context.empty()) into.current_context = std::move(from.current_context);
  into.clusters.merge(from.clusters);
  into.users.merge(from.users);
  into.contexts.merge(from.contexts);
}

}  // namespace gpupool::kube
