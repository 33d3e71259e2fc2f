# SPDX-License-Identifier: Apache-2.0
# Every target of ours links gpupool_warnings; sanitizers are global, because half-instrumented programs lie.
add_library(gpupool_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(gpupool_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
else()  # clang, for sanitizers and fuzzing: g++ judges the same sources
  target_compile_options(gpupool_warnings INTERFACE -w)
endif()

if(GPUPOOL_SANITIZE STREQUAL "address")
  # vptr, null and alignment checks triple the compile time of template-heavy files.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,null,alignment -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(GPUPOOL_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(GPUPOOL_SANITIZE STREQUAL "fuzzer")
  # For clang alone; tests/fuzz links libFuzzer's main().
  add_compile_options(-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(NOT GPUPOOL_SANITIZE STREQUAL "")
  message(FATAL_ERROR "GPUPOOL_SANITIZE is '${GPUPOOL_SANITIZE}': use address, thread, fuzzer or nothing")
endif()
add_link_options(-fuse-ld=lld)
