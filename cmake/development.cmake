# What tests, examples and benchmarks share: warnings, and building one source for a device.
set(CMAKE_NO_SYSTEM_FROM_IMPORTED ON) # our own headers' warnings count here

set(CUDARRAY_DEVICES cpu)
if(TARGET cudarray::cuda AND CUDARRAY_ENABLE_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  enable_language(CUDA)
  list(APPEND CUDARRAY_DEVICES cuda)
endif()

add_library(cudarray_warnings INTERFACE)
set(cudarray_werror $<$<BOOL:${CUDARRAY_WERROR}>:-Werror>)
target_compile_options(cudarray_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;${cudarray_werror}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;$<$<BOOL:${CUDARRAY_WERROR}>:-Werror=all-warnings>;-Wno-deprecated-gpu-targets>")

option(CUDARRAY_NATIVE "Compile tests, examples and benchmarks for this machine's processor" OFF)
if(CUDARRAY_NATIVE)
  target_compile_options(cudarray_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()

set(CUDARRAY_AS_PTX "" CACHE STRING "Programs of which the CUDA sources are compiled to PTX only, not linked: a check without a GPU")

# cudarray_add_program(NAME DEVICE SOURCE...) builds NAME_DEVICE. For cuda each source is compiled by nvcc, through a
# generated .cu that includes it: the language of a source is a property of its folder.
function(cudarray_add_program name device)
  set(target ${name}_${device})
  set(sources ${ARGN})
  if(device STREQUAL cuda)
    set(sources)
    foreach(source IN LISTS ARGN)
      get_filename_component(full "${source}" ABSOLUTE)
      string(REGEX REPLACE "[./]+" "_" flat "${source}")
      set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated/${target}/${flat}.cu")
      file(CONFIGURE OUTPUT "${generated}" CONTENT "#include \"${full}\"\n")
      list(APPEND sources "${generated}")
    endforeach()
  endif()
  if(device STREQUAL cuda AND name IN_LIST CUDARRAY_AS_PTX)
    add_library(${target} OBJECT ${sources})
    set_target_properties(${target} PROPERTIES CUDA_PTX_COMPILATION ON)
  else()
    add_executable(${target} ${sources})
  endif()
  target_link_libraries(${target} PRIVATE cudarray_warnings)
  if(device STREQUAL cuda)
    target_link_libraries(${target} PRIVATE cudarray::cuda)
  else()
    target_link_libraries(${target} PRIVATE cudarray::cudarray)
  endif()
endfunction()
