# SPDX-License-Identifier: Apache-2.0
# One line for each thing that the rooms above the library hold: a room of it, a program, a test, a bench, an example.

# gpurt_add_room(NAME FILE...): an object library, compiled as our own code and instrumented as the preset says.
function(gpurt_add_room name)
    add_library(${name} OBJECT ${ARGN})
    target_include_directories(${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
    target_link_libraries(${name} PRIVATE gpurt_flags PUBLIC gpurt_headers)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# gpurt_add_program(NAME [TARGET WORD] [LIBRARIES TARGET...] [SOURCES] FILE...): a program of tui/, installed with its manual page
# and its completions. The option parser prints the page, so the two cannot drift apart. TARGET, where NAME is taken.
function(gpurt_add_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET" "LIBRARIES;SOURCES")
    if(NOT arg_TARGET)
        set(arg_TARGET ${name})
    endif()
    set(target ${arg_TARGET})
    add_executable(${target} ${arg_UNPARSED_ARGUMENTS} ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/runtime/base")
    target_link_libraries(${target} PRIVATE gpurt_option ${arg_LIBRARIES} gpurt::gpurt gpurt_flags gpurt_sanitize)
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

    foreach(row "bash ${name} bash-completion/completions" "zsh _${name} zsh/site-functions"
            "fish ${name}.fish fish/vendor_completions.d")
        separate_arguments(row)
        list(POP_FRONT row shell file folder)
        configure_file("${PROJECT_SOURCE_DIR}/cmake/completion.${shell}.in" completion/${shell}/${file} @ONLY)
        install(FILES "${CMAKE_CURRENT_BINARY_DIR}/completion/${shell}/${file}"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}")
    endforeach()
    if(NOT CMAKE_CROSSCOMPILING)
        set(page "${CMAKE_CURRENT_BINARY_DIR}/${name}.1")
        add_custom_command(OUTPUT "${page}" COMMAND ${target} --man > "${page}" DEPENDS ${target}
            COMMENT "Manual page of ${name}" VERBATIM)
        add_custom_target(${target}-page ALL DEPENDS "${page}")
        install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    endif()
endfunction()

# gpurt_add_example(NAME [SOURCES FILE...] [KERNELS FILE...]), by default KERNELS NAME.c. An example is also a test: it
# ends with 0.
function(gpurt_add_example name)
    gpurt_add_kernel_program(${name} ${ARGN})
    if(BUILD_TESTING)
        add_test(NAME example_${name} COMMAND ${name})
        set_tests_properties(example_${name} PROPERTIES LABELS example TIMEOUT 300 SKIP_RETURN_CODE 77)
    endif()
endfunction()

# gpurt_add_bench(NAME [SOURCES FILE...] [KERNELS FILE...] [LIBRARIES TARGET...]), by default SOURCES NAME.c.
# `./dev bench` runs it; the target benches builds all of them, the default target none.
function(gpurt_add_bench name)
    if(NOT ARGN)
        set(ARGN SOURCES ${name}.c)
    endif()
    gpurt_add_kernel_program(${name} ${ARGN})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    add_dependencies(benches ${name})
endfunction()

function(gpurt_add_kernel_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;KERNELS;LIBRARIES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${name}: say SOURCES or KERNELS before ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES AND NOT arg_KERNELS)
        set(arg_KERNELS ${name}.c)
    endif()
    add_executable(${name} ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON) # for kernels among its libraries, see gpurt_add_kernels
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} gpurt::gpurt gpurt_flags gpurt_sanitize m)
    if(arg_KERNELS)
        gpurt_add_kernels(${name} ${arg_KERNELS})
    endif()
endfunction()

# gpurt_include_rooms(VARIABLE ROOM...): the folders of private headers of rooms.
function(gpurt_include_rooms variable)
    set(folders "")
    foreach(room IN LISTS ARGN)
        if(room MATCHES "^gpurt_")
            list(APPEND folders $<TARGET_PROPERTY:${room},INTERFACE_INCLUDE_DIRECTORIES>)
        else()
            list(APPEND folders "${PROJECT_SOURCE_DIR}/${room}")
        endif()
    endforeach()
    set(${variable} "${folders}" PARENT_SCOPE)
endfunction()

# gpurt_add_test(NAME [GPU] [SOURCES FILE...] [KERNELS FILE...] [LABELS WORD...] [TIMEOUT SECONDS]
#                [ENVIRONMENT VAR=VALUE...] [ARGS WORD...] [LIBRARIES TARGET...] [ROOMS FOLDER...])
# SOURCES is NAME.c when left out. ROOMS are those whose private headers it includes: targets, as gpurt_host, or folders.
# GPU: its kernels hold on a GPU too; in a CUDA build it runs twice, as NAME on the CPU and as NAME.gpu, label gpu.
# 0 passes, 77 skips, all else fails.
function(gpurt_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "GPU" "TIMEOUT"
        "SOURCES;KERNELS;LABELS;ENVIRONMENT;ARGS;LIBRARIES;ROOMS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "gpurt_add_test(${name}): what is ${arg_UNPARSED_ARGUMENTS}?")
    endif()
    if(NOT arg_SOURCES)
        set(arg_SOURCES ${name}.c)
    endif()
    gpurt_include_rooms(rooms ${arg_ROOMS})
    add_executable(${name} ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests"
        ENABLE_EXPORTS ON)
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/runtime/base" ${rooms})
    target_compile_options(${name} PRIVATE -UNDEBUG) # an assert in a test holds in every build
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} gpurt::gpurt gpurt_flags gpurt_sanitize m)

    if(arg_GPU AND GPURT_WITH_CUDA)
        gpurt_add_kernels(${name} ${arg_KERNELS})
        add_test(NAME ${name}.gpu
            COMMAND "${PROJECT_SOURCE_DIR}/tools/with_gpu.sh" $<TARGET_FILE:${name}> ${arg_ARGS})
        gpurt_test_properties(${name}.gpu GPURT_BACKEND=cuda GPURT_CUPTI=off) # a test counts its own records
        set_property(TEST ${name}.gpu APPEND PROPERTY LABELS gpu)
    else()
        target_sources(${name} PRIVATE ${arg_KERNELS})
    endif()
    add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
    gpurt_test_properties(${name} GPURT_BACKEND=cpu)
endfunction()

# gpurt_add_script_test(NAME COMMAND WORD... [LABELS ...] [TIMEOUT ...] [ENVIRONMENT ...]): the same for a script.
function(gpurt_add_script_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
    add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    gpurt_test_properties(${name})
endfunction()

# gpurt_one_thread(NAME...): tests of this folder of programs that have one thread each, as those that `nm` shows without
# pthread_create and fork: a build for ThreadSanitizer leaves them out, and `./dev tsan` does not run them.
function(gpurt_one_thread)
    foreach(name IN LISTS ARGN)
        if(TEST ${name})
            set_property(TEST ${name} APPEND PROPERTY LABELS one-thread)
        endif()
        if(TARGET ${name} AND GPURT_SANITIZE STREQUAL "thread")
            set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
        endif()
    endforeach()
endfunction()

# gpurt_add_missing_tests(WHY NAME...): tests that this build cannot have, for want of what WHY names: who runs the others sees
# that they are skipped.
function(gpurt_add_missing_tests why)
    foreach(name IN LISTS ARGN)
        gpurt_add_script_test(${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/missing.sh" "${why}")
    endforeach()
endfunction()

macro(gpurt_test_properties name) # VAR=VALUE...
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 300) # what hangs; a busy machine is slow
    endif()
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT}
        LABELS "${arg_LABELS}" ENVIRONMENT "${ARGN};${arg_ENVIRONMENT}")
endmacro()

# The target device-code: all that nvcc compiles for tests, examples and benches, without a link. Libraries are left
# out: the packages have theirs for every architecture.
function(gpurt_add_device_code)
    get_property(objects GLOBAL PROPERTY GPURT_DEVICE_EXECUTABLE)
    get_property(shared GLOBAL PROPERTY GPURT_DEVICE_OBJECT_LIBRARY)
    add_custom_target(device-code DEPENDS ${objects} ${shared})
    foreach(name two_units_rdc two_units_dlto cancel_plain_rdc cupti_nested) # linked on the device
        if(TARGET ${name})
            add_dependencies(device-code ${name})
        endif()
    endforeach()
endfunction()
