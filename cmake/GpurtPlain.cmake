# SPDX-License-Identifier: Apache-2.0
# Plain CUDA C++ programs: compiled and linked by nvcc, as their authors would. Of use where GPURT_WITH_CUDA is set.

# gpurt_plain_object(VARIABLE NAME FILE.cu FLAG...): appends the object to VARIABLE.
function(gpurt_plain_object variable name file)
    cmake_path(GET file STEM stem)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${stem}.o")
    set(werror "")
    if(CMAKE_COMPILE_WARNING_AS_ERROR)
        set(werror -Werror all-warnings)
    endif()
    add_custom_command(
        OUTPUT "${object}"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir"
        COMMAND "${GPURT_NVCC}" -std=c++17 -O2 -Xcompiler=-Wall,-Wextra ${werror}
            "-I${PROJECT_SOURCE_DIR}/runtime/include" ${ARGN}
            -MD -MF "${object}.d" -c "${CMAKE_CURRENT_SOURCE_DIR}/${file}" -o "${object}"
        DEPENDS "${file}"
        DEPFILE "${object}.d"
        COMMENT "nvcc ${file} (${name})"
        VERBATIM)
    set(${variable} ${${variable}} "${object}" PARENT_SCOPE)
    set_property(GLOBAL APPEND PROPERTY GPURT_DEVICE_EXECUTABLE "${object}")
endfunction()

# gpurt_plain_program(NAME OBJECTS FILE... [WITH_GPURT] [FOLDER NAME] [LINK COMMAND...] [TEST COMMAND...|NO_TEST]): into
# tests/ of the build or FOLDER. Its test is that it runs, or TEST, on a machine with a GPU.
function(gpurt_plain_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "WITH_GPURT;NO_TEST" "FOLDER" "OBJECTS;LINK;TEST")
    if(NOT arg_LINK)
        set(arg_LINK "${GPURT_NVCC}")
    endif()
    if(NOT arg_FOLDER)
        set(arg_FOLDER tests)
    endif()
    set(libraries "")
    if(arg_WITH_GPURT)
        # As in gpurt-cuda.pc: the library refers to its CUDA back end weakly, which pulls nothing out of an archive.
        set(libraries -Xlinker -u,gpurt_backend_cuda "$<TARGET_FILE:gpurt_cuda>" "$<TARGET_FILE:gpurt>")
    endif()
    set(program "${PROJECT_BINARY_DIR}/${arg_FOLDER}/${name}")
    if(NOT arg_TEST)
        set(arg_TEST "${program}")
    endif()
    add_custom_command(
        OUTPUT "${program}"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/${arg_FOLDER}"
        COMMAND ${arg_LINK} ${arg_OBJECTS} ${libraries} -lpthread -ldl -o "${program}"
        DEPENDS ${arg_OBJECTS} $<$<BOOL:${arg_WITH_GPURT}>:gpurt_cuda> $<$<BOOL:${arg_WITH_GPURT}>:gpurt>
        COMMENT "Linking ${name}"
        VERBATIM)
    add_custom_target(${name} ALL DEPENDS "${program}")
    if(BUILD_TESTING AND NOT arg_NO_TEST)
        gpurt_add_script_test(${name} COMMAND "${PROJECT_SOURCE_DIR}/tools/with_gpu.sh" ${arg_TEST} LABELS gpu)
    endif()
endfunction()
