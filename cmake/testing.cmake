# SPDX-License-Identifier: Apache-2.0
# gpupool_test(NAME LABEL [ONE_THREAD] SOURCES ... DEPENDS ...): one GoogleTest program; every TEST of it is a ctest test with this label.
# Tests with the label `integration` need TEST_KUBECONFIG; tests/run starts a control plane for them.
# Half of what compiling costs is tests: they are not optimized, and up to 8 files are compiled as one. So names in the
# anonymous namespaces of one program's tests must differ. ONE_THREAD: no thread is started, so ThreadSanitizer has nothing to
# find and does not run it; in the ordinary build the program ends where a thread is started.
function(gpupool_test name label)
  cmake_parse_arguments(ARG "ONE_THREAD" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE -O0)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} gpupool_warnings GTest::gmock GTest::gtest_main)
  gpupool_join(${name} 8)
  if(ARG_ONE_THREAD AND GPUPOOL_SANITIZE STREQUAL "")
    target_link_libraries(${name} PRIVATE gpupool_one_thread)
  endif()
  if(ARG_ONE_THREAD AND GPUPOOL_SANITIZE STREQUAL "thread")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()
