# SPDX-License-Identifier: Apache-2.0
# gpurt_add_check_program(NAME [SOURCES FILE.c...] [KERNELS FILE.c...] [LIBRARIES TARGET...]): one program, built for
# each tool of gpurt-check, on the CPU back end. Installed. Host code may stand in KERNELS and device code in SOURCES: here
# both are C; the words are those of gpurt_add_kernels.
#
#   NAME            as the project builds everything
#   NAME-race       clang, ThreadSanitizer
#   NAME-asan       clang or gcc, AddressSanitizer and UBSan
#   NAME-schedule   clang, every plain access a point where the seed may switch lanes
#
# The variants are custom commands because a CMake build has one C compiler, and gcc can
# make neither -race (its TSan runtime does not bear thousands of fibers) nor -schedule (it lacks the switches).

find_program(GPURT_CLANG clang DOC "clang, for the -race and -schedule variants of check programs")
mark_as_advanced(GPURT_CLANG)

# The instrumentation of TSan for plain accesses alone; gpurt::schedule stands in for its runtime.
set(GPURT_SCHEDULE_FLAGS -fsanitize=thread
    -mllvm -tsan-instrument-atomics=0
    -mllvm -tsan-instrument-func-entry-exit=0
    -mllvm -tsan-instrument-memintrinsics=0)

function(gpurt_add_check_program name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;KERNELS;LIBRARIES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "gpurt_add_check_program(${name}): say SOURCES or KERNELS before ${arg_UNPARSED_ARGUMENTS}")
    endif()
    set(sources ${arg_SOURCES} ${arg_KERNELS})
    add_executable(${name} ${sources})
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON) # reports name functions
    target_link_libraries(${name} PRIVATE gpurt::gpurt ${arg_LIBRARIES} m)
    if(TARGET gpurt_sanitize) # in gpurt's own tree
        target_link_libraries(${name} PRIVATE gpurt_flags gpurt_sanitize)
    endif()
    if(NOT GPURT_SANITIZE) # else the library itself is instrumented: no second tool can be linked in
        gpurt_check_variant(${name} asan "${CMAKE_C_COMPILER}" SOURCES ${sources}
            COMPILE -fsanitize=address,undefined -fno-sanitize-recover=undefined
            LINK -fsanitize=address,undefined)
        gpurt_check_clang_variants(${name} ${sources})
    endif()
endfunction()

# Those that gcc cannot make.
function(gpurt_check_clang_variants name)
    if(NOT GPURT_CLANG)
        message(STATUS "gpurt: no clang found: ${name}-race and ${name}-schedule are left out")
        return()
    endif()
    gpurt_check_variant(${name} race "${GPURT_CLANG}" SOURCES ${ARGN}
        COMPILE -fsanitize=thread
        LINK -fsanitize=thread)
    gpurt_check_variant(${name} schedule "${GPURT_CLANG}" SOURCES ${ARGN}
        COMPILE ${GPURT_SCHEDULE_FLAGS}
        LIBRARY gpurt::schedule)
endfunction()

# One variant: an object per source, so that a change compiles one file, then the link.
function(gpurt_check_variant name variant compiler)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "LIBRARY" "SOURCES;COMPILE;LINK")
    set(includes "$<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>")
    set(defines "$<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>")
    set(directory "${CMAKE_CURRENT_BINARY_DIR}/${name}-${variant}.dir")
    set(program "$<TARGET_FILE:${name}>-${variant}")
    set(stamp "${directory}/linked")
    set(library "$<TARGET_FILE:gpurt::gpurt>")
    if(arg_LIBRARY)
        set(library "$<TARGET_FILE:${arg_LIBRARY}>" "${library}")
    endif()

    set(objects "")
    foreach(source IN LISTS arg_SOURCES)
        cmake_path(GET source STEM stem)
        cmake_path(ABSOLUTE_PATH source)
        set(object "${directory}/${stem}.o")
        add_custom_command(
            OUTPUT "${object}"
            COMMAND "${CMAKE_COMMAND}" -E make_directory "${directory}"
            COMMAND "${compiler}" -std=gnu11 -g -O1 -fno-omit-frame-pointer -fstack-clash-protection ${arg_COMPILE}
                "$<$<BOOL:${defines}>:-D$<JOIN:${defines},;-D>>"
                "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
                -MD -MF "${object}.d" -MT "${object}" -c "${source}" -o "${object}"
            DEPENDS "${source}"
            DEPFILE "${object}.d"
            COMMENT "Building ${name}-${variant}: ${stem}.c"
            COMMAND_EXPAND_LISTS VERBATIM)
        list(APPEND objects "${object}")
    endforeach()
    add_custom_command(
        OUTPUT "${stamp}"
        COMMAND "${compiler}" ${arg_LINK} -rdynamic ${objects} ${library} -lpthread -ldl -lm -o "${program}"
        COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
        DEPENDS ${objects} ${library}
        COMMENT "Linking ${name}-${variant}"
        COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${name}-${variant} ALL DEPENDS "${stamp}")
endfunction()
