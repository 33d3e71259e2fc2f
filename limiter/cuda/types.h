// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpupool::limiter {

// What the driver's interface passes, as far as the wrappers need it. Names and layouts are facts of that
// interface; handles are pointers to things that only the driver knows.

using CUresult = int;  // an enumeration there
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUdeviceptr_v1 = unsigned int;  // of the functions without a suffix
using CUcontext = struct CUctx_st*;
using CUgreenCtx = struct CUgreenCtx_st*;
using CUdevResourceDesc = struct CUdevResourceDesc_st*;
using CUmodule = struct CUmod_st*;
using CUlibrary = struct CUlib_st*;
using CUfunction = struct CUfunc_st*;
using CUkernel = struct CUkern_st*;
using CUlinkState = struct CUlinkState_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUarray = struct CUarray_st*;
using CUmipmappedArray = struct CUmipmappedArray_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUmemGenericAllocationHandle = unsigned long long;

inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kInvalidValue = 1;
inline constexpr CUresult kOutOfMemory = 2;
inline constexpr CUresult kNotInitialized = 3;
inline constexpr CUresult kDeinitialized = 4;
inline constexpr CUresult kNotFound = 500;
inline constexpr CUresult kNotSupported = 801;

struct CUuuid {
  unsigned char bytes[16];
};

// An enumeration of the driver in an argument or a structure.
using Enum = int;

struct ArrayDescriptor {  // CUDA_ARRAY_DESCRIPTOR_v2
  std::size_t width;
  std::size_t height;
  Enum format;
  unsigned num_channels;
};

struct ArrayDescriptorV1 {
  unsigned width;
  unsigned height;
  Enum format;
  unsigned num_channels;
};

struct Array3dDescriptor {  // CUDA_ARRAY3D_DESCRIPTOR_v2
  std::size_t width;
  std::size_t height;
  std::size_t depth;
  Enum format;
  unsigned num_channels;
  unsigned flags;
};

struct Array3dDescriptorV1 {
  unsigned width;
  unsigned height;
  unsigned depth;
  Enum format;
  unsigned num_channels;
  unsigned flags;
};

inline constexpr unsigned kArrayLayered = 0x01;
inline constexpr unsigned kArrayCubemap = 0x04;
inline constexpr unsigned kArraySparse = 0x40;
inline constexpr unsigned kArrayDeferred = 0x80;

struct ArrayMemoryRequirements {  // CUDA_ARRAY_MEMORY_REQUIREMENTS
  std::size_t size;
  std::size_t alignment;
  unsigned reserved[4];
};

inline constexpr Enum kLocationDevice = 1;  // CU_MEM_LOCATION_TYPE_DEVICE

struct MemLocation {
  Enum type;
  int id;
};

struct MemAllocationProp {  // CUmemAllocationProp_v1
  Enum type;
  Enum requested_handle_types;
  MemLocation location;
  void* win32_handle_meta_data;
  struct {
    unsigned char compression_type;
    unsigned char gpu_direct_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
  } alloc_flags;
};

struct MemPoolProps {  // CUmemPoolProps_v1
  Enum alloc_type;
  Enum handle_types;
  MemLocation location;
  void* win32_security_attributes;
  std::size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};

inline constexpr Enum kAllocationManaged = 2;  // CU_MEM_ALLOCATION_TYPE_MANAGED, of CUDA 13

struct MemAccessDesc {
  MemLocation location;
  Enum flags;
};

struct MemAllocNodeParams {  // CUDA_MEM_ALLOC_NODE_PARAMS_v1
  MemPoolProps pool_props;
  const MemAccessDesc* access_descs;
  std::size_t access_desc_count;
  std::size_t bytesize;
  CUdeviceptr dptr;
};

struct ArrayMapInfo {  // CUarrayMapInfo_v1
  Enum resource_type;  // 0: array, 1: mipmapped array
  void* resource;
  Enum subresource_type;  // 0: level, 1: tail of the mipmap
  union {
    struct {
      unsigned level;
      unsigned layer;
      unsigned offset_x, offset_y, offset_z;
      unsigned extent_width, extent_height, extent_depth;
    } sparse_level;
    struct {
      unsigned layer;
      unsigned long long offset;
      unsigned long long size;
    } miptail;
  } subresource;
  Enum operation;  // 1: map, 2: unmap
  Enum handle_type;
  CUmemGenericAllocationHandle handle;
  unsigned long long offset;
  unsigned device_bit_mask;
  unsigned flags;
  unsigned reserved[2];
};

inline constexpr Enum kMapOperationMap = 1;
inline constexpr Enum kMapOperationUnmap = 2;

inline constexpr Enum kPoolReservedCurrent = 5;   // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
inline constexpr Enum kPoolUsedCurrent = 7;       // CU_MEMPOOL_ATTR_USED_MEM_CURRENT
inline constexpr Enum kGraphUsedCurrent = 0;      // CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT
inline constexpr Enum kGraphReservedCurrent = 2;  // CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT
inline constexpr Enum kNodeChildGraph = 4;
inline constexpr Enum kNodeMemAlloc = 10;
inline constexpr Enum kNodeMemFree = 11;
inline constexpr Enum kCaptureNone = 0;

inline constexpr Enum kLimitStackSize = 0;
inline constexpr Enum kLimitPrintfFifo = 1;
inline constexpr Enum kLimitMallocHeap = 2;
inline constexpr Enum kAttributeMultiprocessors = 16;
inline constexpr Enum kAttributeThreadsPerMultiprocessor = 39;

}  // namespace gpupool::limiter
