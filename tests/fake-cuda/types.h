// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpupool::fake_cuda {

// The types of the driver's C interface, as far as the fake uses them. Numbers and layouts are those of the
// interface.
enum class Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kArrayIsMapped = 207,
  kAlreadyMapped = 208,
  kNotMapped = 211,
  kEccUncorrectable = 214,
  kContextAlreadyInUse = 216,
  kPeerAccessUnsupported = 217,
  kFileNotFound = 301,
  kOperatingSystem = 304,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kPrimaryContextActive = 708,
  kContextIsDestroyed = 709,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kNotPermitted = 800,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureUnmatched = 903,
  kCapturedEvent = 907,
  kGraphExecUpdateFailure = 910,
  kUnknown = 999,
};

using Ordinal = int;            // CUdevice
using Pointer = std::uint64_t;  // CUdeviceptr
using PointerV1 = std::uint32_t;

// Opaque handles are pointers to these.
struct Context;
struct Module;
struct Function;
struct Stream;
struct Event;
struct Array;
struct MipmappedArray;
struct Pool;
struct Graph;
struct GraphNode;
struct GraphExec;

struct Uuid {
  unsigned char bytes[16];
};

struct Location {
  int type;  // 1 device, 2 host, 3 host NUMA node, 4 the current host NUMA node
  int id;
};
inline constexpr int kLocationDevice = 1;
inline constexpr int kLocationHostNumaCurrent = 4;

struct AllocationProperties {
  int type;
  int requested_handle_types;
  Location location;
  void* win32;
  unsigned char compression;
  unsigned char rdma_capable;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(AllocationProperties) == 32);

struct AccessDescription {
  Location location;
  int flags;
};

struct PoolProperties {
  int type;
  int handle_types;
  Location location;
  void* win32;
  std::size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};
static_assert(sizeof(PoolProperties) == 88);

struct PoolPointerExport {
  unsigned char reserved[64];
};

struct ArrayDescriptor {
  std::size_t width;
  std::size_t height;
  unsigned int format;
  unsigned int channels;
};

struct ArrayDescriptorV1 {
  unsigned int width;
  unsigned int height;
  unsigned int format;
  unsigned int channels;
};

struct Array3DDescriptor {
  std::size_t width;
  std::size_t height;
  std::size_t depth;
  unsigned int format;
  unsigned int channels;
  unsigned int flags;
};

struct Array3DDescriptorV1 {
  unsigned int width;
  unsigned int height;
  unsigned int depth;
  unsigned int format;
  unsigned int channels;
  unsigned int flags;
};
inline constexpr unsigned int kArrayLayered = 0x01;
inline constexpr unsigned int kArrayCubemap = 0x04;
inline constexpr unsigned int kArraySparse = 0x40;
inline constexpr unsigned int kArrayDeferred = 0x80;

struct ArrayMemoryRequirements {
  std::size_t size;
  std::size_t alignment;
  unsigned int reserved[4];
};

struct MemAllocNodeParams {
  PoolProperties pool;
  const AccessDescription* access;
  std::size_t access_count;
  std::size_t bytes;
  Pointer pointer;
};

// The parameters of any node, of which an allocation's are known here.
struct GraphNodeParams {
  int type;
  int reserved0[3];
  union {
    MemAllocNodeParams allocation;
    Pointer freed;
    Graph* child;
    long long words[29];
  } of;
  long long reserved2;
};
static_assert(sizeof(GraphNodeParams) == 256);

struct GraphInstantiateParams {
  std::uint64_t flags;
  Stream* upload_stream;
  GraphNode* error_node;
  int result;
};

struct GraphUpdateInfo {
  int result;
  GraphNode* error_node;
  GraphNode* error_from_node;
};

struct ArrayMapInfo {
  int resource_type;  // 0 array, 1 mipmapped array
  Array* resource;
  int subresource_type;
  unsigned long long subresource[4];
  int operation;  // 1 map, 2 unmap
  int handle_type;
  std::uint64_t handle;
  std::uint64_t offset;
  unsigned int device_mask;
  unsigned int flags;
  unsigned int reserved[2];
};
static_assert(sizeof(ArrayMapInfo) == 96);

// Of cuMemcpy2D and, with the members about depth, of cuMemcpy3D.
struct Copy2D {
  std::size_t from_x, from_y;
  int from_type;
  const void* from_host;
  Pointer from_device;
  Array* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  int to_type;
  void* to_host;
  Pointer to_device;
  Array* to_array;
  std::size_t to_pitch;
  std::size_t width, height;
};
static_assert(sizeof(Copy2D) == 128);

struct Copy3D {
  std::size_t from_x, from_y, from_z, from_level;
  int from_type;
  const void* from_host;
  Pointer from_device;
  Array* from_array;
  void* reserved0;
  std::size_t from_pitch, from_height;
  std::size_t to_x, to_y, to_z, to_level;
  int to_type;
  void* to_host;
  Pointer to_device;
  Array* to_array;
  void* reserved1;
  std::size_t to_pitch, to_height;
  std::size_t width, height, depth;
};
static_assert(sizeof(Copy3D) == 200);

struct MultiDeviceLaunch {
  Function* function;
  unsigned int grid[3];
  unsigned int block[3];
  unsigned int shared_bytes;
  Stream* stream;
  void** parameters;
};

struct IpcHandle {
  char bytes[64];
};

struct LaunchConfig {
  unsigned int grid[3];
  unsigned int block[3];
  unsigned int shared_bytes;
  Stream* stream;
  void* attributes;
  unsigned int attribute_count;
};

}  // namespace gpupool::fake_cuda
