# gpupool_module(NAME SOURCES ... DEPENDS ... [PRIVATE_DEPENDS ...]): one folder of operator/ or device-plugin/ as a static
# library gpupool_NAME, included as "NAME/header.h". The DEPENDS lines of the modules are the layering; .ci/check-layers
# compares the includes with them.
function(gpupool_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(gpupool_${name} STATIC ${ARG_SOURCES})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH program)
  target_include_directories(gpupool_${name} PUBLIC ${program})
  target_link_libraries(gpupool_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} gpupool_warnings)
  if(GPUPOOL_SANITIZE MATCHES "address|thread")
    gpupool_join(gpupool_${name} 12)  # nobody edits one file and builds it so
  endif()
endfunction()
