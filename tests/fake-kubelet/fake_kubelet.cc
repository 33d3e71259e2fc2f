// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-kubelet/fake_kubelet.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "device_plugin_v1beta1.grpc.pb.h"

namespace gpupool::test {

namespace {

namespace fs = std::filesystem;
constexpr const char* kSocket = "kubelet.sock";
constexpr auto kPatience = std::chrono::seconds(20);

void remove_sockets(const std::string& directory, const std::string& except) {
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.is_socket() && entry.path().filename() != except) fs::remove(entry.path());
  }
}

}  // namespace

struct FakeKubelet::Endpoint {
  Endpoint(std::string name, const std::string& socket) : resource(std::move(name)), client(socket) {}
  const std::string resource;
  PluginClient client;
  std::unique_ptr<ListStreamReader> stream;
  bool over = false;  // its end was dealt with
};

class FakeKubelet::Service final : public v1beta1::Registration::Service {
 public:
  explicit Service(FakeKubelet& owner) : owner_(owner) {}
  grpc::Status Register(grpc::ServerContext*, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty*) override {
    const auto refusal = owner_.register_plugin(
        {request->version(), request->endpoint(), request->resource_name(),
         request->options().get_preferred_allocation_available(), false, std::chrono::steady_clock::now()});
    if (refusal.empty()) return grpc::Status::OK;
    return {grpc::StatusCode::UNKNOWN, refusal};  // the code of a plain Go error
  }

 private:
  FakeKubelet& owner_;
};

struct FakeKubelet::Server {
  explicit Server(FakeKubelet& owner) : service(owner) {}
  Service service;
  std::unique_ptr<grpc::Server> server;
};

FakeKubelet::FakeKubelet(std::string directory) : directory_(std::move(directory)) {
  fs::create_directories(directory_);
}

FakeKubelet::~FakeKubelet() { stop(); }

void FakeKubelet::start() {
  remove_sockets(directory_, "");
  auto server = std::make_unique<Server>(*this);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + directory_ + "/" + kSocket, grpc::InsecureServerCredentials());
  builder.RegisterService(&server->service);
  server->server = builder.BuildAndStart();
  if (!server->server) throw std::runtime_error("fake kubelet: cannot listen in " + directory_);
  server_ = std::move(server);
}

void FakeKubelet::stop(bool leave_socket) {
  const auto socket = directory_ + "/" + kSocket;
  if (server_) {
    if (leave_socket) fs::rename(socket, socket + ".kept");  // gRPC would remove it
    server_->server->Shutdown(std::chrono::system_clock::now());
    server_.reset();
    if (leave_socket) fs::rename(socket + ".kept", socket);
  }
  std::vector<std::shared_ptr<Endpoint>> ending;
  std::vector<std::thread> dials;
  {
    const std::lock_guard lock(mutex_);
    dials = std::move(late_dials_);
    late_dials_.clear();
  }
  for (auto& dial : dials) dial.join();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& endpoint : all_endpoints_) endpoint->over = true;
    ending = std::move(all_endpoints_);
    all_endpoints_.clear();
    endpoints_.clear();
    devices_.clear();
  }
  for (const auto& endpoint : ending) endpoint->stream.reset();
}

void FakeKubelet::wipe_plugin_sockets() { remove_sockets(directory_, kSocket); }

void FakeKubelet::refuse_with(std::string message) {
  const std::lock_guard lock(mutex_);
  refusal_ = std::move(message);
}

std::string FakeKubelet::register_plugin(Registered registration) {
  {
    const std::lock_guard lock(mutex_);
    if (!refusal_.empty()) {
      registrations_.push_back(registration);
      changed_.notify_all();
      return refusal_;
    }
  }
  if (registration.version != "v1beta1") return "requested API version is not supported by kubelet";
  if (!dial_late_) {
    connect(std::move(registration));
  } else {
    const std::lock_guard lock(mutex_);
    late_dials_.emplace_back([this, registration] { connect(registration); });
  }
  return {};
}

void FakeKubelet::connect(Registered registration) {
  auto endpoint = std::make_shared<Endpoint>(registration.resource, directory_ + "/" + registration.endpoint);
  registration.prefers_asked = endpoint->client.options().response.get_preferred_allocation_available();
  const std::lock_guard lock(mutex_);
  const auto old = endpoints_.find(registration.resource);
  if (old != endpoints_.end()) old->second->stream->cancel();
  endpoints_[registration.resource] = endpoint;
  all_endpoints_.push_back(endpoint);
  registrations_.push_back(registration);
  endpoint->stream =
      std::make_unique<ListStreamReader>(endpoint->client, [this, weak = std::weak_ptr<Endpoint>(endpoint)] {
        if (const auto alive = weak.lock()) on_stream(alive);
      });
  changed_.notify_all();
}

void FakeKubelet::on_stream(const std::shared_ptr<Endpoint>& endpoint) {
  const std::lock_guard lock(mutex_);
  if (endpoint->over || !endpoint->stream) return;
  const auto current = endpoints_.find(endpoint->resource);
  const bool is_current = current != endpoints_.end() && current->second == endpoint;
  if (endpoint->stream->ended()) {
    endpoint->over = true;
    if (is_current || late_stream_end_) disconnect(endpoint->resource);
  } else if (is_current) {
    auto& devices = devices_[endpoint->resource];
    devices.clear();
    for (const auto& [id, device] : endpoint->stream->devices()) {
      auto& added = devices[id];
      added.healthy = device.health() == "Healthy";
      if (device.has_topology() && device.topology().nodes_size() > 0) {
        added.numa_node = device.topology().nodes(0).id();
      }
    }
  }
  changed_.notify_all();
}

void FakeKubelet::disconnect(const std::string& resource) {
  const auto current = endpoints_.find(resource);
  if (current == endpoints_.end()) return;
  current->second->stream->cancel();
  endpoints_.erase(current);
  for (auto& [id, device] : devices_[resource]) device.healthy = false;
}

std::vector<Registered> FakeKubelet::registrations() const {
  const std::lock_guard lock(mutex_);
  return registrations_;
}

std::optional<std::map<std::string, FakeKubelet::Device>> FakeKubelet::devices(
    const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(resource);
  if (found == devices_.end()) return std::nullopt;
  return found->second;
}

std::uint64_t FakeKubelet::lists(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  const auto found = endpoints_.find(resource);
  return found == endpoints_.end() ? 0 : found->second->stream->messages();
}

bool FakeKubelet::connected(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  const auto found = endpoints_.find(resource);
  return found != endpoints_.end() && !found->second->stream->ended();
}

std::vector<std::string> FakeKubelet::healthy(const std::string& resource) const {
  std::vector<std::string> ids;
  const auto all = devices(resource);
  if (!all) return ids;
  for (const auto& [id, device] : *all) {
    if (device.healthy) ids.push_back(id);
  }
  return ids;
}

PluginClient FakeKubelet::client(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  return endpoints_.at(resource)->client;
}

void FakeKubelet::drop(const std::string& resource) {
  const std::lock_guard lock(mutex_);
  disconnect(resource);
  changed_.notify_all();
}

bool FakeKubelet::wait(const std::function<bool(const FakeKubelet&)>& so) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!so(*this)) {
    std::unique_lock lock(mutex_);
    if (std::chrono::steady_clock::now() >= deadline) return false;
    // A change between so() and here would be missed for a moment only.
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace gpupool::test
