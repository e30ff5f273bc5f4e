# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` lays down, and how other builds find it: CMake package and pkg-config.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gpurt")

install(TARGETS gpurt gpurt_schedule EXPORT gpurtTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT gpurtTargets NAMESPACE gpurt:: DESTINATION "${package_dir}")
if(GPURT_WITH_CUDA)
    # An export of its own: the package loads it only where the user's build has a toolkit too.
    install(TARGETS gpurt_cuda EXPORT gpurtCudaTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT gpurtCudaTargets NAMESPACE gpurt:: DESTINATION "${package_dir}")
endif()

configure_package_config_file(cmake/gpurtConfig.cmake.in gpurtConfig.cmake INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(gpurtConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/gpurtConfig.cmake"
    "${PROJECT_BINARY_DIR}/gpurtConfigVersion.cmake"
    cmake/GpurtCuda.cmake
    cmake/GpurtKernels.cmake
    cmake/GpurtCheckProgram.cmake
    DESTINATION "${package_dir}")

# Relative, so that the installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
    OUTPUT_VARIABLE up_to_prefix)
configure_file(cmake/gpurt.pc.in gpurt.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gpurt.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(GPURT_WITH_CUDA)
    configure_file(cmake/gpurt-cuda.pc.in gpurt-cuda.pc @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/gpurt-cuda.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

install(FILES tools/gdb/gpurt_gdb.py DESTINATION "${CMAKE_INSTALL_DATADIR}/gpurt" OPTIONAL)
# The pages that --help names.
install(FILES docs/CUPTI.md docs/FILTER.md docs/LOG_FORMAT.md docs/PANIC_JSON.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright)
