# SPDX-License-Identifier: Apache-2.0
# gpupool_test(NAME LABEL [ONE_THREAD] [SHARDS N] SOURCES ... DEPENDS ...): one GoogleTest program, and a ctest test of this label
# that runs all of it: to start a program under a sanitizer costs more than most tests. SHARDS N: a long program is run as N ctest
# tests, each with a part of its tests; ctest starts these before short ones. BUILD/gtest/NAME-K.xml lists what part K has tested.
# Tests with the label `integration` need TEST_KUBECONFIG; tests/run starts a control plane for them.
# Half of what compiling costs is tests: they are not optimized, and up to 8 files are compiled as one. So names in the
# anonymous namespaces of one program's tests must differ. ONE_THREAD: no thread is started, so ThreadSanitizer has nothing to
# find and does not run it; in the ordinary build the program ends where a thread is started.
function(gpupool_test name label)
  cmake_parse_arguments(ARG "ONE_THREAD" "SHARDS" "SOURCES;DEPENDS" ${ARGN})
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
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}-${shard} COMMAND ${name} --gtest_brief=1 --gtest_output=xml:${CMAKE_BINARY_DIR}/gtest/${name}-${shard}.xml)
    set_tests_properties(${name}-${shard} PROPERTIES LABELS ${label} TIMEOUT 900 COST ${ARG_SHARDS}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
