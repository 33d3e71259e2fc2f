// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-kubelet/plugin_client.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <utility>

#include "device_plugin_v1beta1.grpc.pb.h"

namespace gpupool::test {

namespace {

constexpr auto kCallLimit = std::chrono::seconds(20);
constexpr auto kAnswerWithin = std::chrono::seconds(20);

template <class Response, class Call>
Reply<Response> reply(const Call& call) {
  Reply<Response> reply;
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + kCallLimit);
  const auto status = call(context, reply.response);
  reply.code = status.error_code();
  reply.message = status.error_message();
  return reply;
}

std::shared_ptr<grpc::Channel> channel_to(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  arguments.SetMaxReceiveMessageSize(4 * 1024 * 1024);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

struct PluginClient::Impl {
  explicit Impl(const std::string& socket)
      : channel(channel_to(socket)), stub(v1beta1::DevicePlugin::NewStub(channel)) {}
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1beta1::DevicePlugin::Stub> stub;
};

PluginClient::PluginClient(const std::string& socket) : impl_(std::make_shared<Impl>(socket)) {}
PluginClient::~PluginClient() = default;

Reply<v1beta1::DevicePluginOptions> PluginClient::options() {
  return reply<v1beta1::DevicePluginOptions>([&](auto& context, auto& response) {
    return impl_->stub->GetDevicePluginOptions(&context, {}, &response);
  });
}

Reply<v1beta1::AllocateResponse> PluginClient::allocate(const std::vector<std::string>& ids) {
  v1beta1::AllocateRequest request;
  auto& container = *request.add_container_requests();
  for (const auto& id : ids) container.add_devices_ids(id);
  return allocate(request);
}

Reply<v1beta1::AllocateResponse> PluginClient::allocate(const v1beta1::AllocateRequest& request) {
  return reply<v1beta1::AllocateResponse>(
      [&](auto& context, auto& response) { return impl_->stub->Allocate(&context, request, &response); });
}

int PluginClient::allocate_bytes(const std::string& bytes) {
  grpc::GenericStub stub(impl_->channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallLimit);
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::Status status;
  auto call = stub.PrepareUnaryCall(&context, "/v1beta1.DevicePlugin/Allocate", request, &queue);
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool done = false;
  queue.Next(&tag, &done);
  return status.error_code();
}

Reply<v1beta1::PreferredAllocationResponse> PluginClient::prefer(const std::vector<std::string>& available,
                                                                 const std::vector<std::string>& must_include,
                                                                 int size) {
  v1beta1::PreferredAllocationRequest request;
  auto& container = *request.add_container_requests();
  for (const auto& id : available) container.add_available_deviceids(id);
  for (const auto& id : must_include) container.add_must_include_deviceids(id);
  container.set_allocation_size(size);
  return reply<v1beta1::PreferredAllocationResponse>([&](auto& context, auto& response) {
    return impl_->stub->GetPreferredAllocation(&context, request, &response);
  });
}

Reply<v1beta1::PreStartContainerResponse> PluginClient::pre_start(const std::vector<std::string>& ids) {
  v1beta1::PreStartContainerRequest request;
  for (const auto& id : ids) request.add_devices_ids(id);
  return reply<v1beta1::PreStartContainerResponse>([&](auto& context, auto& response) {
    return impl_->stub->PreStartContainer(&context, request, &response);
  });
}

struct ListStreamReader::Impl {
  void read_all();

  std::shared_ptr<PluginClient::Impl> client;
  std::function<void()> on_change;
  grpc::ClientContext context;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  Devices devices;
  std::uint64_t messages = 0;
  bool held = false;
  bool ended = false;
  int end_code = 0;
  std::thread thread;
};

void ListStreamReader::Impl::read_all() {
  const auto stream = client->stub->ListAndWatch(&context, {});
  v1beta1::ListAndWatchResponse message;
  while (stream->Read(&message)) {
    {
      std::unique_lock lock(mutex);
      devices.clear();
      for (const auto& device : message.devices()) devices[device.id()] = device;
      ++messages;
      changed.notify_all();
    }
    on_change();
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !held; });
  }
  const auto status = stream->Finish();
  {
    const std::lock_guard lock(mutex);
    ended = true;
    end_code = status.error_code();
    changed.notify_all();
  }
  on_change();
}

ListStreamReader::ListStreamReader(const PluginClient& client, std::function<void()> on_change)
    : impl_(std::make_unique<Impl>()) {
  impl_->client = client.impl_;
  impl_->on_change = std::move(on_change);
  impl_->context.set_wait_for_ready(true);
  impl_->thread = std::thread([impl = impl_.get()] { impl->read_all(); });
}

ListStreamReader::~ListStreamReader() {
  go_on();
  cancel();
  impl_->thread.join();
}

ListStreamReader::Devices ListStreamReader::devices() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->devices;
}

std::uint64_t ListStreamReader::messages() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->messages;
}

bool ListStreamReader::ended() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->ended;
}

int ListStreamReader::end_code() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->end_code;
}

void ListStreamReader::cancel() { impl_->context.TryCancel(); }

void ListStreamReader::hold() {
  const std::lock_guard lock(impl_->mutex);
  impl_->held = true;
}

void ListStreamReader::go_on() {
  const std::lock_guard lock(impl_->mutex);
  impl_->held = false;
  impl_->changed.notify_all();
}

bool ListStreamReader::wait(const std::function<bool(const ListStreamReader&)>& so) const {
  const auto deadline = std::chrono::steady_clock::now() + kAnswerWithin;
  while (!so(*this)) {
    std::unique_lock lock(impl_->mutex);
    if (std::chrono::steady_clock::now() >= deadline) return false;
    // A change between so() and here would be missed for a moment only.
    impl_->changed.wait_for(lock, std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace gpupool::test
