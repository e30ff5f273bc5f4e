# SPDX-License-Identifier: Apache-2.0
# gpurt_add_kernels(TARGET FILE.c...): kernels of the dialect, for every back end that this build has. Installed.
#
# Each file is compiled as C into TARGET for the CPU; with a CUDA toolkit the same text is compiled a second time by
# nvcc, as CUDA, and that object is linked beside the first. nvcc runs as a custom command because CMake compiles a
# source once per target, in one language.

function(gpurt_add_kernels target)
    target_sources(${target} PRIVATE ${ARGN})
    target_link_libraries(${target} PRIVATE gpurt::gpurt)
    # A large frame then touches each of its pages, so that a lane that overflows its stack meets the guard page
    # instead of a neighbour's stack.
    if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-fstack-clash-protection>)
    endif()
    # Reports of the CPU back end name functions, and look them up among the exported ones.
    set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
    if(GPURT_WITH_CUDA)
        gpurt_cuda_object(${target} ${ARGN})
        target_link_libraries(${target} PRIVATE gpurt::cuda)
    endif()
endfunction()

# gpurt_cuda_object(TARGET FILE.c...): the CUDA half alone.
function(gpurt_cuda_object target)
    set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(defines "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
    set(werror "")
    if(CMAKE_COMPILE_WARNING_AS_ERROR)
        set(werror -Werror all-warnings)
    endif()
    # Of an OBJECT library CMake hands on what it compiled itself.
    get_target_property(type ${target} TYPE)
    set(visible PRIVATE)
    if(type STREQUAL "OBJECT_LIBRARY")
        set(visible PUBLIC)
    endif()
    foreach(file IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE source)
        cmake_path(GET file STEM name)
        set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.cuda/${name}.o")
        add_custom_command(
            OUTPUT "${object}"
            COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/${target}.cuda"
            COMMAND "${GPURT_NVCC}" -x cu -std=c++17 -O3 -lineinfo ${GPURT_NVCC_GENCODE} ${werror}
                # No libstdc++ needed by a C program: the stubs have no exceptions and no static to guard.
                -Xcompiler=-fPIC,-fno-exceptions,-fno-threadsafe-statics
                "$<$<BOOL:${defines}>:-D$<JOIN:${defines},;-D>>"
                "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
                -MD -MF "${object}.d" -c "${source}" -o "${object}"
            DEPENDS "${source}"
            DEPFILE "${object}.d"
            COMMENT "nvcc ${file} (${target})"
            COMMAND_EXPAND_LISTS VERBATIM)
        set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
        target_sources(${target} ${visible} "${object}")
        set_property(GLOBAL APPEND PROPERTY GPURT_DEVICE_${type} "${object}")
    endforeach()
endfunction()
