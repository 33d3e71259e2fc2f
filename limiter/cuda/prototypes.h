// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "limiter/cuda/types.h"

// The functions of the driver that the limiter answers itself, in the order of the files that define them. A
// name with _ptsz means the thread's own default stream where its twin means the process's.

#define GPUPOOL_CUDA extern "C" __attribute__((visibility("default"))) ::gpupool::limiter::CUresult

namespace gpupool::limiter {

// memory.cc
GPUPOOL_CUDA cuMemAlloc(CUdeviceptr_v1* pointer, unsigned bytes);
GPUPOOL_CUDA cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes);
GPUPOOL_CUDA cuMemFree(CUdeviceptr_v1 pointer);
GPUPOOL_CUDA cuMemFree_v2(CUdeviceptr pointer);
GPUPOOL_CUDA cuMemAllocPitch(CUdeviceptr_v1* pointer, unsigned* pitch, unsigned width, unsigned height,
                             unsigned element);
GPUPOOL_CUDA cuMemAllocPitch_v2(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width,
                                std::size_t height, unsigned element);

// managed.cc
GPUPOOL_CUDA cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned flags);

// arrays.cc
GPUPOOL_CUDA cuArrayCreate(CUarray* array, const ArrayDescriptorV1* descriptor);
GPUPOOL_CUDA cuArrayCreate_v2(CUarray* array, const ArrayDescriptor* descriptor);
GPUPOOL_CUDA cuArray3DCreate(CUarray* array, const Array3dDescriptorV1* descriptor);
GPUPOOL_CUDA cuArray3DCreate_v2(CUarray* array, const Array3dDescriptor* descriptor);
GPUPOOL_CUDA cuArrayDestroy(CUarray array);
GPUPOOL_CUDA cuMipmappedArrayCreate(CUmipmappedArray* array, const Array3dDescriptor* descriptor,
                                    unsigned levels);
GPUPOOL_CUDA cuMipmappedArrayDestroy(CUmipmappedArray array);

// physical.cc
GPUPOOL_CUDA cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                         const MemAllocationProp* prop, unsigned long long flags);
GPUPOOL_CUDA cuMemRelease(CUmemGenericAllocationHandle handle);
GPUPOOL_CUDA cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address);
GPUPOOL_CUDA cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* os_handle, Enum type);
GPUPOOL_CUDA cuMemMap(CUdeviceptr pointer, std::size_t size, std::size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags);
GPUPOOL_CUDA cuMemUnmap(CUdeviceptr pointer, std::size_t size);
GPUPOOL_CUDA cuMemMapArrayAsync(ArrayMapInfo* list, unsigned count, CUstream stream);
GPUPOOL_CUDA cuMemMapArrayAsync_ptsz(ArrayMapInfo* list, unsigned count, CUstream stream);

// async_memory.cc
GPUPOOL_CUDA cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream);
GPUPOOL_CUDA cuMemAllocAsync_ptsz(CUdeviceptr* pointer, std::size_t bytes, CUstream stream);
GPUPOOL_CUDA cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                     CUstream stream);
GPUPOOL_CUDA cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                          CUstream stream);
GPUPOOL_CUDA cuMemFreeAsync(CUdeviceptr pointer, CUstream stream);
GPUPOOL_CUDA cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream stream);

// pools.cc
GPUPOOL_CUDA cuMemPoolCreate(CUmemoryPool* pool, const MemPoolProps* props);
GPUPOOL_CUDA cuMemPoolDestroy(CUmemoryPool pool);
GPUPOOL_CUDA cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep);
GPUPOOL_CUDA cuMemPoolSetAttribute(CUmemoryPool pool, Enum attribute, void* value);
GPUPOOL_CUDA cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* handle, Enum type,
                                                unsigned long long flags);
GPUPOOL_CUDA cuMemGetDefaultMemPool(CUmemoryPool* pool, MemLocation* location, Enum type);
GPUPOOL_CUDA cuMemGetMemPool(CUmemoryPool* pool, MemLocation* location, Enum type);

// waits.cc: where a pool gives back what was freed
GPUPOOL_CUDA cuCtxSynchronize();
GPUPOOL_CUDA cuCtxSynchronize_v2(CUcontext context);
GPUPOOL_CUDA cuStreamSynchronize(CUstream stream);
GPUPOOL_CUDA cuStreamSynchronize_ptsz(CUstream stream);
GPUPOOL_CUDA cuEventSynchronize(CUevent event);

// older_drivers.cc
GPUPOOL_CUDA cuCtxGetDevice_v2(CUdevice* device, CUcontext context);
GPUPOOL_CUDA cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end);

// graphs.cc
GPUPOOL_CUDA cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log,
                                std::size_t size);
GPUPOOL_CUDA cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log,
                                   std::size_t size);
GPUPOOL_CUDA cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags);
GPUPOOL_CUDA cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, void* params);
GPUPOOL_CUDA cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph, void* params);
GPUPOOL_CUDA cuGraphExecDestroy(CUgraphExec exec);
GPUPOOL_CUDA cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error, Enum* result);
GPUPOOL_CUDA cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, void* result);
GPUPOOL_CUDA cuGraphUpload(CUgraphExec exec, CUstream stream);
GPUPOOL_CUDA cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream);
GPUPOOL_CUDA cuGraphLaunch(CUgraphExec exec, CUstream stream);
GPUPOOL_CUDA cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
GPUPOOL_CUDA cuDeviceGraphMemTrim(CUdevice device);

// contexts.cc
GPUPOOL_CUDA cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device);
GPUPOOL_CUDA cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);
GPUPOOL_CUDA cuCtxCreate_v3(CUcontext* context, void* affinity, int count, unsigned flags, CUdevice device);
GPUPOOL_CUDA cuCtxCreate_v4(CUcontext* context, void* params, unsigned flags, CUdevice device);
GPUPOOL_CUDA cuGLCtxCreate(CUcontext* context, unsigned flags, CUdevice device);
GPUPOOL_CUDA cuGLCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);
GPUPOOL_CUDA cuVDPAUCtxCreate(CUcontext* context, unsigned flags, CUdevice device, std::uint32_t display,
                              void* address);
GPUPOOL_CUDA cuVDPAUCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device, std::uint32_t display,
                                 void* address);
GPUPOOL_CUDA cuCtxDestroy(CUcontext context);
GPUPOOL_CUDA cuCtxDestroy_v2(CUcontext context);
GPUPOOL_CUDA cuCtxAttach(CUcontext* context, unsigned flags);
GPUPOOL_CUDA cuCtxDetach(CUcontext context);

// primary_contexts.cc
GPUPOOL_CUDA cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
GPUPOOL_CUDA cuDevicePrimaryCtxRelease(CUdevice device);
GPUPOOL_CUDA cuDevicePrimaryCtxRelease_v2(CUdevice device);
GPUPOOL_CUDA cuDevicePrimaryCtxReset(CUdevice device);
GPUPOOL_CUDA cuDevicePrimaryCtxReset_v2(CUdevice device);
GPUPOOL_CUDA cuGreenCtxCreate(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device,
                              unsigned flags);
GPUPOOL_CUDA cuGreenCtxDestroy(CUgreenCtx context);
GPUPOOL_CUDA cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx context, unsigned flags, int priority);
GPUPOOL_CUDA cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx green);

// code.cc
GPUPOOL_CUDA cuModuleLoad(CUmodule* module, const char* file);
GPUPOOL_CUDA cuModuleLoadData(CUmodule* module, const void* image);
GPUPOOL_CUDA cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, Enum* options,
                                void** values);
GPUPOOL_CUDA cuModuleLoadFatBinary(CUmodule* module, const void* image);
GPUPOOL_CUDA cuModuleUnload(CUmodule module);
GPUPOOL_CUDA cuLibraryLoadData(CUlibrary* library, const void* code, Enum* jit_options, void** jit_values,
                               unsigned jit_count, Enum* options, void** values, unsigned count);
GPUPOOL_CUDA cuLibraryLoadFromFile(CUlibrary* library, const char* file, Enum* jit_options, void** jit_values,
                                   unsigned jit_count, Enum* options, void** values, unsigned count);
GPUPOOL_CUDA cuLibraryUnload(CUlibrary library);
GPUPOOL_CUDA cuLinkComplete(CUlinkState state, void** cubin, std::size_t* size);
GPUPOOL_CUDA cuFuncLoad(CUfunction function);
GPUPOOL_CUDA cuFuncSetAttribute(CUfunction function, Enum attribute, int value);

// context_limits.cc
GPUPOOL_CUDA cuCtxSetLimit(Enum limit, std::size_t value);

// sizes.cc
GPUPOOL_CUDA cuMemGetInfo(unsigned* free, unsigned* total);
GPUPOOL_CUDA cuMemGetInfo_v2(std::size_t* free, std::size_t* total);
GPUPOOL_CUDA cuDeviceTotalMem(unsigned* bytes, CUdevice device);
GPUPOOL_CUDA cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device);

// launches.cc
#define GPUPOOL_GRID \
  unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z
GPUPOOL_CUDA cuLaunchKernel(CUfunction function, GPUPOOL_GRID, unsigned shared, CUstream stream,
                            void** parameters, void** extra);
GPUPOOL_CUDA cuLaunchKernel_ptsz(CUfunction function, GPUPOOL_GRID, unsigned shared, CUstream stream,
                                 void** parameters, void** extra);
GPUPOOL_CUDA cuLaunchKernelEx(const void* config, CUfunction function, void** parameters, void** extra);
GPUPOOL_CUDA cuLaunchKernelEx_ptsz(const void* config, CUfunction function, void** parameters, void** extra);
GPUPOOL_CUDA cuLaunchCooperativeKernel(CUfunction function, GPUPOOL_GRID, unsigned shared, CUstream stream,
                                       void** parameters);
GPUPOOL_CUDA cuLaunchCooperativeKernel_ptsz(CUfunction function, GPUPOOL_GRID, unsigned shared,
                                            CUstream stream, void** parameters);
GPUPOOL_CUDA cuLaunchCooperativeKernelMultiDevice(void* launches, unsigned count, unsigned flags);
GPUPOOL_CUDA cuLaunch(CUfunction function);
GPUPOOL_CUDA cuLaunchGrid(CUfunction function, int width, int height);
GPUPOOL_CUDA cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream);

}  // namespace gpupool::limiter
