# SPDX-License-Identifier: Apache-2.0
# Is there a CUDA toolkit that can compile the dialect? Also installed: a user's build asks the same question.

# The first nvcc with the __nv_atomic_* built-ins, which atomic.h stands on.
set(GPURT_CUDA_OLDEST 12.8)
set(GPURT_CUDA_ARCHS "" CACHE STRING
    "GPU architectures, as 80;90 (empty: 75, 80, 90 and the newest that nvcc knows; native: of the GPUs here, else 90;
checked: those of empty, compiled as far as a compiler could refuse)")

# The architectures of this machine's GPUs; empty without a GPU, or for one that nvcc does not know.
function(gpurt_native_archs known variable)
    set(archs "")
    find_program(GPURT_NVIDIA_SMI nvidia-smi DOC "names the GPUs here, for GPURT_CUDA_ARCHS=native")
    mark_as_advanced(GPURT_NVIDIA_SMI)
    if(GPURT_NVIDIA_SMI)
        execute_process(COMMAND "${GPURT_NVIDIA_SMI}" --query-gpu=compute_cap --format=csv,noheader
            OUTPUT_VARIABLE said ERROR_QUIET TIMEOUT 60)
        string(REGEX REPLACE "[.]" "" said "${said}")
        string(REGEX REPLACE "[ \n]+" ";" said "${said}")
        foreach(arch IN LISTS said)
            if(arch IN_LIST known) # what nvidia-smi says in place of a number is no architecture
                list(APPEND archs ${arch})
            endif()
        endforeach()
        list(REMOVE_DUPLICATES archs)
        list(SORT archs COMPARE NATURAL)
    endif()
    set(${variable} "${archs}" PARENT_SCOPE)
endfunction()

# The folder of the toolkit behind an nvcc, which may be a link or a script that calls the real one: nvcc knows.
function(gpurt_nvcc_toolkit nvcc variable)
    execute_process(COMMAND "${nvcc}" --dryrun -x cu -c /dev/null -o /dev/null
        OUTPUT_VARIABLE said ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    if(NOT said MATCHES "_HERE_=([^\n]+)")
        message(FATAL_ERROR "${nvcc} --dryrun does not tell where it is:\n${said}")
    endif()
    cmake_path(GET CMAKE_MATCH_1 PARENT_PATH root)
    set(${variable} "${root}" PARENT_SCOPE)
endfunction()

# Sets in the caller GPURT_WITH_CUDA, and either GPURT_CUDA_WHY_NOT or GPURT_NVCC, GPURT_NVCC_GENCODE,
# GPURT_NVCC_TRIED and GPURT_NVCC_ASSEMBLED (see gpurt_narrow_gencode), GPURT_NVCC_ARCHS, GPURT_CUDA_LIBRARY_DIR and
# GPURT_CUDA_SUMMARY.
function(gpurt_find_cuda)
    set(GPURT_WITH_CUDA OFF PARENT_SCOPE)
    find_package(CUDAToolkit QUIET)
    if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
        set(GPURT_CUDA_WHY_NOT "no nvcc found" PARENT_SCOPE)
        return()
    endif()
    if(CUDAToolkit_VERSION VERSION_LESS GPURT_CUDA_OLDEST)
        set(GPURT_CUDA_WHY_NOT
            "nvcc ${CUDAToolkit_VERSION} is too old, ${GPURT_CUDA_OLDEST} is needed" PARENT_SCOPE)
        return()
    endif()

    execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" --list-gpu-arch
        OUTPUT_VARIABLE known OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[0-9]+" known "${known}")
    list(SORT known COMPARE NATURAL)
    list(GET known -1 newest)
    set(archs ${GPURT_CUDA_ARCHS})
    set(tried "")
    set(assembled "")
    set(quick "") # of code that nothing here can run, and whose PTX is not looked at
    if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
        set(quick --Ofast-compile=max)
    endif()
    if(archs STREQUAL "native")
        gpurt_native_archs("${known}" archs)
        if(NOT archs)
            set(archs 90)
            set(assembled "-gencode=arch=compute_90,code=compute_90")
            set(tried ${assembled} ${quick})
        endif()
    elseif(NOT archs OR archs STREQUAL "checked")
        set(archs "")
        foreach(arch 75 80 90 ${newest})
            if(arch IN_LIST known AND NOT arch IN_LIST archs)
                list(APPEND archs ${arch})
            endif()
        endforeach()
    endif()

    # Machine code for each; PTX of 90 too, for the generations between it and the newest, and of the last one for
    # GPUs that nvcc has not heard of.
    list(GET archs -1 last)
    set(gencode "")
    foreach(arch IN LISTS archs)
        if(NOT arch IN_LIST known)
            message(FATAL_ERROR "GPURT_CUDA_ARCHS: nvcc ${CUDAToolkit_VERSION} does not know ${arch}, only: ${known}")
        endif()
        if(arch EQUAL 90 OR arch EQUAL last)
            list(APPEND gencode "-gencode=arch=compute_${arch},code=[sm_${arch},compute_${arch}]")
        else()
            list(APPEND gencode "-gencode=arch=compute_${arch},code=sm_${arch}")
        endif()
    endforeach()

    # What is compiled and not shipped: PTX of the oldest architecture, for all before 9.0, and of 9.0.
    if((NOT GPURT_CUDA_ARCHS OR GPURT_CUDA_ARCHS STREQUAL "checked") AND 90 IN_LIST archs)
        list(GET archs 0 oldest)
        set(older "")
        if(NOT oldest EQUAL 90)
            set(older "-gencode=arch=compute_${oldest},code=compute_${oldest}")
        endif()
        set(tried "-gencode=arch=compute_90,code=compute_90")
        set(assembled "-gencode=arch=compute_90,code=[sm_90,compute_90]")
        if(GPURT_CUDA_ARCHS STREQUAL "checked")
            set(gencode ${older} ${assembled})
            # A GPU here that is older runs the tests, too.
            gpurt_native_archs("${known}" here)
            if(here)
                set(quick "")
            endif()
            list(APPEND here 90)
            list(GET here 0 here)
            if(NOT here LESS 90)
                set(older "")
            endif()
        else()
            set(quick "")
        endif()
        set(tried ${older} ${tried} ${quick})
        set(assembled ${older} ${assembled})
    elseif(NOT tried)
        set(tried "${gencode}")
    endif()
    if(NOT assembled)
        set(assembled "${tried}")
    endif()

    set(GPURT_NVCC_TRIED "${tried}" PARENT_SCOPE)
    set(GPURT_NVCC_ASSEMBLED "${assembled}" PARENT_SCOPE)
    set(GPURT_WITH_CUDA ON PARENT_SCOPE)
    set(GPURT_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}" PARENT_SCOPE)
    set(GPURT_CUDA_LIBRARY_DIR "${CUDAToolkit_LIBRARY_DIR}" PARENT_SCOPE)
    set(GPURT_NVCC_ARCHS "${archs}" PARENT_SCOPE)
    set(GPURT_NVCC_GENCODE "${gencode}" PARENT_SCOPE)
    list(JOIN archs " sm_" archs)
    set(verb "for")
    if(GPURT_CUDA_ARCHS STREQUAL "checked")
        set(verb "checked for")
    endif()
    set(hardly "")
    if(quick)
        set(hardly ", kernels of tests with ${quick}")
    endif()
    set(GPURT_CUDA_SUMMARY "nvcc ${CUDAToolkit_VERSION} ${verb} sm_${archs}${hardly}" PARENT_SCOPE)
endfunction()

# For what is tried and not shipped, from here on: PTX. Machine code takes four fifths of nvcc's time. What an
# architecture could refuse stands in the headers. Of those, the tests with the label archs and the packages make machine
# code for each architecture. Checked: PTX of 9.0 alone, libraries and examples have PTX of the oldest, too, and what
# calls gpurt_assemble machine code of 9.0. Native, and no GPU here: PTX of 9.0, for nothing can run it.
macro(gpurt_narrow_gencode)
    if(GPURT_WITH_CUDA)
        set(GPURT_NVCC_GENCODE "${GPURT_NVCC_TRIED}")
    endif()
endmacro()

# Of all architectures or checked, machine code of 9.0 too, from here on in this folder.
macro(gpurt_assemble)
    if(GPURT_WITH_CUDA)
        set(GPURT_NVCC_GENCODE "${GPURT_NVCC_ASSEMBLED}")
    endif()
endmacro()

# Carries out GPURT_CUDA and says the outcome in one line.
macro(gpurt_choose_cuda)
    set(GPURT_WITH_CUDA OFF)
    set(GPURT_CUDA_WHY_NOT "GPURT_CUDA=OFF")
    if(NOT GPURT_CUDA STREQUAL "OFF")
        gpurt_find_cuda()
    endif()
    if(NOT PROJECT_IS_TOP_LEVEL) # the project around this one calls gpurt_add_kernels too
        foreach(variable GPURT_WITH_CUDA GPURT_NVCC GPURT_NVCC_GENCODE)
            set(${variable} "${${variable}}" PARENT_SCOPE)
        endforeach()
    endif()
    if(GPURT_WITH_CUDA)
        message(STATUS "gpurt: CPU and CUDA back ends (${GPURT_CUDA_SUMMARY})")
    elseif(GPURT_CUDA STREQUAL "ON")
        message(FATAL_ERROR "gpurt: GPURT_CUDA=ON, but ${GPURT_CUDA_WHY_NOT}; "
            "install a CUDA toolkit of ${GPURT_CUDA_OLDEST} or later, or set CUDAToolkit_ROOT")
    else()
        message(STATUS "gpurt: CPU back end only (${GPURT_CUDA_WHY_NOT})")
    endif()
endmacro()
