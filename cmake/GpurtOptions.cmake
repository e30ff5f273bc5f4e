# SPDX-License-Identifier: Apache-2.0
# Every option of the build, in one place. As a subproject, gpurt builds its libraries and nothing else.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(GPURT_CUDA AUTO CACHE STRING "CUDA back end: AUTO (when a toolkit is found), ON (an error without one), OFF")
set_property(CACHE GPURT_CUDA PROPERTY STRINGS AUTO ON OFF)
set(GPURT_CUPTI AUTO CACHE STRING "Collector for any CUDA program: AUTO (when cupti.h is found), OFF")
set_property(CACHE GPURT_CUPTI PROPERTY STRINGS AUTO OFF)
set(GPURT_SANITIZE "" CACHE STRING "Sanitizer of tests, examples and host code: empty, address (with undefined), thread")
set_property(CACHE GPURT_SANITIZE PROPERTY STRINGS "" address thread)
option(GPURT_TUI "Build the programs (gpurt-check, gpurt-log, gpurt-top, ...)" ${PROJECT_IS_TOP_LEVEL})
option(GPURT_BUNDLE "Link zstd and ncurses into the programs, which then need libc alone" OFF)
option(GPURT_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(GPURT_BENCH "Build the benches" ${PROJECT_IS_TOP_LEVEL})
option(BUILD_TESTING "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(GPURT_FIBER_UCONTEXT "Switch fibers by ucontext also where there is an assembly switch" OFF)

if(NOT GPURT_SANITIZE MATCHES "^(address|thread)?$")
    message(FATAL_ERROR "GPURT_SANITIZE=${GPURT_SANITIZE}: say address, thread or nothing")
endif()
if(NOT GPURT_CUDA MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "GPURT_CUDA=${GPURT_CUDA}: say AUTO, ON or OFF")
endif()

# gpurt_find_library(VARIABLE NAME DOC TEXT): find_library, of the archive first where programs are to hold it.
function(gpurt_find_library variable name doc text)
    set(names ${name})
    if(GPURT_BUNDLE)
        list(PREPEND names lib${name}.a)
    endif()
    find_library(${variable} NAMES ${names} DOC "${text}")
    mark_as_advanced(${variable})
endfunction()
