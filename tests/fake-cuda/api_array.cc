// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/arrays.h"
#include "tests/fake-cuda/call.h"

// The driver's functions about arrays. They have sizes and no content.
using namespace gpupool::fake_cuda;

namespace {

template <class Descriptor>
Result create_flat(const char* name, Array** out, const Descriptor* descriptor) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    if (descriptor == nullptr) return Result::kInvalidValue;
    const Array3DDescriptor full{.width = descriptor->width,
                                 .height = descriptor->height,
                                 .depth = 0,
                                 .format = descriptor->format,
                                 .channels = descriptor->channels,
                                 .flags = 0};
    return create_array(d, context, full, 1, out);
  });
}

// A mipmapped array's handle is an array's here.
Array* array_of(MipmappedArray* handle) { return reinterpret_cast<Array*>(handle); }

Result requirements(const char* name, ArrayMemoryRequirements* out, Array* array) {
  return call(name, [&](Driver& d) {
    if (!d.objects().arrays.contains(array)) return Result::kInvalidHandle;
    // Only arrays whose memory is to be mapped tell.
    if (out == nullptr || (array->descriptor.flags & (kArraySparse | kArrayDeferred)) == 0)
      return Result::kInvalidValue;
    *out = {.size = array->size, .alignment = 64U << 10U, .reserved = {}};
    return Result::kSuccess;
  });
}

}  // namespace

CUDA_FUNCTION(cuArrayCreate)(Array** out, const ArrayDescriptorV1* descriptor) {
  return create_flat(__func__, out, descriptor);
}
CUDA_FUNCTION(cuArrayCreate_v2)(Array** out, const ArrayDescriptor* descriptor) {
  return create_flat(__func__, out, descriptor);
}
CUDA_FUNCTION(cuArray3DCreate)(Array** out, const Array3DDescriptorV1* descriptor) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    if (descriptor == nullptr) return Result::kInvalidValue;
    const Array3DDescriptor full{.width = descriptor->width,
                                 .height = descriptor->height,
                                 .depth = descriptor->depth,
                                 .format = descriptor->format,
                                 .channels = descriptor->channels,
                                 .flags = descriptor->flags};
    return create_array(d, context, full, 1, out);
  });
}
CUDA_FUNCTION(cuArray3DCreate_v2)(Array** out, const Array3DDescriptor* descriptor) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    return descriptor != nullptr ? create_array(d, context, *descriptor, 1, out) : Result::kInvalidValue;
  });
}
CUDA_FUNCTION(cuArrayDestroy)(Array* array) {
  return call(__func__, [&](Driver& d) { return destroy_array(d, array); });
}
CUDA_FUNCTION(cuArray3DGetDescriptor_v2)(Array3DDescriptor* out, Array* array) {
  return call(__func__, [&](Driver& d) {
    return d.objects().arrays.contains(array) ? put(out, array->descriptor) : Result::kInvalidHandle;
  });
}
CUDA_FUNCTION(cuArrayGetMemoryRequirements)(ArrayMemoryRequirements* out, Array* array, Ordinal) {
  return requirements(__func__, out, array);
}
CUDA_FUNCTION(cuMipmappedArrayCreate)
(MipmappedArray** out, const Array3DDescriptor* descriptor, unsigned int levels) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    if (descriptor == nullptr || out == nullptr) return Result::kInvalidValue;
    Array* made = nullptr;
    const Result code = create_array(d, context, *descriptor, levels, &made);
    if (code == Result::kSuccess) *out = reinterpret_cast<MipmappedArray*>(made);
    return code;
  });
}
CUDA_FUNCTION(cuMipmappedArrayDestroy)(MipmappedArray* array) {
  return call(__func__, [&](Driver& d) { return destroy_array(d, array_of(array)); });
}
CUDA_FUNCTION(cuMipmappedArrayGetMemoryRequirements)(ArrayMemoryRequirements* out, MipmappedArray* array,
                                                     Ordinal) {
  return requirements(__func__, out, array_of(array));
}
CUDA_FUNCTION(cuMemMapArrayAsync)(const ArrayMapInfo* list, unsigned int count, Stream*) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    if (list == nullptr || count == 0) return Result::kInvalidValue;
    Result code = Result::kSuccess;
    for (unsigned i = 0; i < count && code == Result::kSuccess; ++i) code = map_tile(d, list[i]);
    return code;
  });
}
