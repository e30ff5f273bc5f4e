# SPDX-License-Identifier: Apache-2.0
# How our own code is compiled: gpurt_flags for all of it, gpurt_sanitize for all of it but the executor.
# All are INTERFACE targets that only this build links; nothing of them reaches a user's target.

add_library(gpurt_flags INTERFACE)
target_compile_features(gpurt_flags INTERFACE c_std_11)
target_compile_definitions(gpurt_flags INTERFACE _GNU_SOURCE)
target_compile_options(gpurt_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wold-style-definition
        -Wwrite-strings -Wvla -Wundef -Wmissing-declarations>)

# What runs for every record, where a twentieth of its time is in loops that -O3 unrolls.
add_library(gpurt_hot INTERFACE)
if(NOT GPURT_SANITIZE) # instrumented loops make gcc warn of what is not there
    target_compile_options(gpurt_hot INTERFACE $<$<CONFIG:RelWithDebInfo>:-O3>)
endif()

# UBSan stops at the first report: a test that prints and goes on would pass.
set(gpurt_sanitize_options "")
if(GPURT_SANITIZE STREQUAL "address")
    set(gpurt_sanitize_options -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(GPURT_SANITIZE STREQUAL "thread")
    set(gpurt_sanitize_options -fsanitize=thread -fno-omit-frame-pointer)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
        message(WARNING "gcc ${CMAKE_C_COMPILER_VERSION}: its TSan runtime is 30 to 100 times slower on fibers and "
            "ends near 8000 of them; use clang (the tsan preset does)")
    endif()
endif()
add_library(gpurt_sanitize INTERFACE)
target_compile_options(gpurt_sanitize INTERFACE ${gpurt_sanitize_options})
target_link_options(gpurt_sanitize INTERFACE ${gpurt_sanitize_options})
