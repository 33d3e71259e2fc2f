# SPDX-License-Identifier: Apache-2.0
# gpupool_module(NAME [SOURCES ...] DEPENDS ... [PRIVATE_DEPENDS ...]): one folder of lib/ or of a program as a static
# library gpupool_NAME, without SOURCES one of headers alone; NAME of a folder in a folder is OUTER_INNER. Headers are included by their path below lib/ or the
# program. The DEPENDS lines of the modules are the layering; .ci/check-layers compares the includes with them.
function(gpupool_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  string(REGEX REPLACE "/.*" "" program ${folder})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/${program} OUTPUT_VARIABLE inner)
  string(REPLACE "/" "_" own_name ${inner})
  if(NOT own_name STREQUAL name)
    message(FATAL_ERROR "gpupool_module(${name}): the module of ${folder} is called ${own_name}")
  endif()
  if(NOT ARG_SOURCES)
    add_library(gpupool_${name} INTERFACE)
    target_include_directories(gpupool_${name} INTERFACE ${PROJECT_SOURCE_DIR}/${program})
    target_link_libraries(gpupool_${name} INTERFACE ${ARG_DEPENDS})
    return()
  endif()
  add_library(gpupool_${name} STATIC ${ARG_SOURCES})
  target_include_directories(gpupool_${name} PUBLIC ${PROJECT_SOURCE_DIR}/${program})
  target_link_libraries(gpupool_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} gpupool_warnings)
  if(GPUPOOL_JOIN)
    gpupool_join(gpupool_${name} 12)
    # g++ inlines less in a large file; with this it inlines as in small ones.
    target_compile_options(gpupool_${name} PRIVATE
      $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:--param=large-unit-insns=1000000>)
  endif()
endfunction()
