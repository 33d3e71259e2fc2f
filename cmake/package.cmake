# SPDX-License-Identifier: Apache-2.0
# `cpack -G DEB` in the build folder packs what is installed as components preflight and cli. The same inputs and the same
# SOURCE_DATE_EPOCH give the same file.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gpupool)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR gpupool)
set(CPACK_PACKAGE_CONTACT "gpupool <packages@gpupool.dev>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_OUTPUT_CONFIG_FILE ${CMAKE_BINARY_DIR}/CPackConfig.cmake)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)

set(CPACK_COMPONENTS_ALL preflight cli)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENT_PREFLIGHT_DESCRIPTION
  "Tells whether a machine can serve in a GPU pool\nChecks driver, GPUs, container runtime, control groups, clock, API server, ports and\nkernel of a machine that is to become a node of a gpupool pool, or is one, and says what\nto do where something is wrong.")
set(CPACK_DEBIAN_PREFLIGHT_PACKAGE_NAME gpupool-preflight)
set(CPACK_DEBIAN_PREFLIGHT_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PREFLIGHT_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PREFLIGHT_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PREFLIGHT_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_CLI_DESCRIPTION
  "Command line for jobs and GPUs of gpupool\nkubectl gpupool creates, lists, follows and cancels jobs on the GPUs of a Kubernetes\ncluster with gpupool, shows who uses which GPU, and takes nodes out of service.")
set(CPACK_DEBIAN_CLI_PACKAGE_NAME kubectl-gpupool)
set(CPACK_DEBIAN_CLI_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_CLI_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_CLI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
