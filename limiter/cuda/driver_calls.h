// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "limiter/cuda/prototypes.h"
#include "limiter/cuda/types.h"
#include "limiter/proxy/real.h"

// REAL(cuMemAlloc_v2)(...) calls the driver's own function, of which there is a wrapper.
#define REAL(name) ::gpupool::limiter::real<&name>(::gpupool::limiter::Fn::name)

namespace gpupool::limiter::driver {

// Functions of the driver that have no wrapper, as far as wrappers call them. They return what the driver
// does, and CUDA_ERROR_NOT_FOUND if it lacks the function.
// NOLINTBEGIN(bugprone-macro-parentheses): lists in parentheses
#define GPUPOOL_DRIVER_CALL(name, parameters, arguments)                                 \
  inline CUresult name parameters {                                                      \
    using Type = CUresult(*) parameters;                                                 \
    void* const function = driver_function(Fn::name);                                    \
    return function == nullptr ? kNotFound : reinterpret_cast<Type>(function) arguments; \
  }
// NOLINTEND(bugprone-macro-parentheses)

GPUPOOL_DRIVER_CALL(cuCtxGetDevice, (CUdevice * device), (device))
GPUPOOL_DRIVER_CALL(cuCtxGetCurrent, (CUcontext * context), (context))
GPUPOOL_DRIVER_CALL(cuCtxPushCurrent_v2, (CUcontext context), (context))
GPUPOOL_DRIVER_CALL(cuCtxPopCurrent_v2, (CUcontext * context), (context))
GPUPOOL_DRIVER_CALL(cuCtxGetLimit, (std::size_t* value, Enum limit), (value, limit))
GPUPOOL_DRIVER_CALL(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device), (uuid, device))
GPUPOOL_DRIVER_CALL(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device), (uuid, device))
GPUPOOL_DRIVER_CALL(cuDeviceGetAttribute, (int* value, Enum attribute, CUdevice device),
                    (value, attribute, device))
GPUPOOL_DRIVER_CALL(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned* flags, int* active),
                    (device, flags, active))
GPUPOOL_DRIVER_CALL(cuDeviceGetCount, (int* count), (count))
GPUPOOL_DRIVER_CALL(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device), (pool, device))
GPUPOOL_DRIVER_CALL(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice device), (pool, device))
GPUPOOL_DRIVER_CALL(cuDeviceGetGraphMemAttribute, (CUdevice device, Enum attribute, void* value),
                    (device, attribute, value))
GPUPOOL_DRIVER_CALL(cuMemPoolGetAttribute, (CUmemoryPool pool, Enum attribute, void* value),
                    (pool, attribute, value))
GPUPOOL_DRIVER_CALL(cuStreamGetCtx, (CUstream stream, CUcontext* context), (stream, context))
GPUPOOL_DRIVER_CALL(cuStreamIsCapturing, (CUstream stream, Enum* status), (stream, status))
GPUPOOL_DRIVER_CALL(cuStreamIsCapturing_ptsz, (CUstream stream, Enum* status), (stream, status))
GPUPOOL_DRIVER_CALL(cuArrayGetMemoryRequirements,
                    (ArrayMemoryRequirements * needs, CUarray array, CUdevice device), (needs, array, device))
GPUPOOL_DRIVER_CALL(cuMipmappedArrayGetMemoryRequirements,
                    (ArrayMemoryRequirements * needs, CUmipmappedArray array, CUdevice device),
                    (needs, array, device))
GPUPOOL_DRIVER_CALL(cuEventElapsedTime, (float* milliseconds, CUevent begin, CUevent end),
                    (milliseconds, begin, end))
GPUPOOL_DRIVER_CALL(cuGraphGetNodes, (CUgraph graph, CUgraphNode* nodes, std::size_t* count),
                    (graph, nodes, count))
GPUPOOL_DRIVER_CALL(cuGraphNodeGetType, (CUgraphNode node, Enum* type), (node, type))
GPUPOOL_DRIVER_CALL(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph* graph), (node, graph))
GPUPOOL_DRIVER_CALL(cuGraphMemAllocNodeGetParams, (CUgraphNode node, MemAllocNodeParams* params),
                    (node, params))
GPUPOOL_DRIVER_CALL(cuGraphMemFreeNodeGetParams, (CUgraphNode node, CUdeviceptr* pointer), (node, pointer))

}  // namespace gpupool::limiter::driver
