// SPDX-License-Identifier: Apache-2.0
// Arrays and mipmapped arrays of the current context.
#include "limiter/cuda/allocations.h"
#include "limiter/cuda/array_size.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/physical.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

namespace {

// `call()` creates and stores a handle in `array`.
template <typename Array, typename Call>
CUresult create_array(Array* array, const Array3dDescriptor& descriptor, unsigned levels, Call call) {
  CUdevice device = 0;
  unsigned position = kUncharged;
  const CUresult found = session.current(device, position);
  if (found != kSuccess) {
    return found;
  }
  if (position == kUncharged) {
    return call();
  }
  const std::uint64_t bytes = array_bytes(descriptor, levels, device);
  Reserved reserved;
  if (!reserved.reserve(position, bytes)) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(position, bytes, call);
  if (result == kSuccess) {
    keep(Kept::kArray, reinterpret_cast<std::uint64_t>(*array), reserved, Class::kArray, bytes,
         current_context_number());
    measure_first_context(device, position);
  }
  return result;
}

template <typename Array, typename Call>
CUresult destroy_array(Array array, Call call) {
  Leaving leaving(Kept::kArray, reinterpret_cast<std::uint64_t>(array));
  const CUresult result = call();
  if (result == kSuccess) {
    leaving.done();
    array_unmapped(array);
  }
  return result;
}

template <typename Array, typename Descriptor>
bool counts(const Array* array, const Descriptor* descriptor) {
  return array != nullptr && descriptor != nullptr && session.limits_anything();
}

}  // namespace

CUresult cuArrayCreate(CUarray* array, const ArrayDescriptorV1* descriptor) {
  const auto call = [=] { return REAL(cuArrayCreate)(array, descriptor); };
  if (!counts(array, descriptor)) {
    return call();
  }
  return create_array(
      array, {descriptor->width, descriptor->height, 0, descriptor->format, descriptor->num_channels, 0}, 0,
      call);
}

CUresult cuArrayCreate_v2(CUarray* array, const ArrayDescriptor* descriptor) {
  const auto call = [=] { return REAL(cuArrayCreate_v2)(array, descriptor); };
  if (!counts(array, descriptor)) {
    return call();
  }
  return create_array(
      array, {descriptor->width, descriptor->height, 0, descriptor->format, descriptor->num_channels, 0}, 0,
      call);
}

CUresult cuArray3DCreate(CUarray* array, const Array3dDescriptorV1* descriptor) {
  const auto call = [=] { return REAL(cuArray3DCreate)(array, descriptor); };
  if (!counts(array, descriptor)) {
    return call();
  }
  return create_array(array,
                      {descriptor->width, descriptor->height, descriptor->depth, descriptor->format,
                       descriptor->num_channels, descriptor->flags},
                      0, call);
}

CUresult cuArray3DCreate_v2(CUarray* array, const Array3dDescriptor* descriptor) {
  const auto call = [=] { return REAL(cuArray3DCreate_v2)(array, descriptor); };
  return counts(array, descriptor) ? create_array(array, *descriptor, 0, call) : call();
}

CUresult cuArrayDestroy(CUarray array) {
  return destroy_array(array, [array] { return REAL(cuArrayDestroy)(array); });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const Array3dDescriptor* descriptor,
                                unsigned levels) {
  const auto call = [=] { return REAL(cuMipmappedArrayCreate)(array, descriptor, levels); };
  return counts(array, descriptor) && levels != 0 ? create_array(array, *descriptor, levels, call) : call();
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return destroy_array(array, [array] { return REAL(cuMipmappedArrayDestroy)(array); });
}

}  // namespace gpupool::limiter
