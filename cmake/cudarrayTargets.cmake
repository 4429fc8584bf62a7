# The targets, defined in one place for add_subdirectory, FetchContent and find_package alike:
#   cudarray::core      the headers and C++20; defines nothing
#   cudarray::cudarray  arrays on the CPU; BLAS where it is found
#   cudarray::cuda      the same with CUDA arrays as the default; only where the CUDA toolkit is found
# The including file sets cudarray_version and cudarray_include_dir, and may set
#   CUDARRAY_WITH_BLAS   (ON)  use a CBLAS library where one is found
#   CUDARRAY_WITH_ONEDNN (ON)  use oneDNN, for convolutions on the CPU, where it is found
#   CUDARRAY_WITH_HIGHWAY (ON) use Highway, for sorting on the CPU, where it is found
#   CUDARRAY_WITH_CUDA   (ON)  define cudarray::cuda where the toolkit is found
#   CUDARRAY_WITH_CUDNN  (ON)  use cuDNN where it is found

# A project may find the package and add its sources, in any order: what comes first counts. include_guard would not do,
# as it tells files by their paths.
if(TARGET cudarray::core)
  return()
endif()

add_library(cudarray::core INTERFACE IMPORTED GLOBAL)
set_target_properties(cudarray::core PROPERTIES CUDARRAY_VERSION "${cudarray_version}")
target_include_directories(cudarray::core INTERFACE "${cudarray_include_dir}")
target_compile_features(cudarray::core INTERFACE cxx_std_20)
# CMake 3.25 does not know cuda_std_20 of CUDA 13
target_compile_options(cudarray::core INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)

# CBLAS, oneDNN and Highway belong to core's users on both devices: files of one program must agree on what they find.
if(NOT DEFINED CUDARRAY_WITH_BLAS OR CUDARRAY_WITH_BLAS)
  find_path(CUDARRAY_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas)
  find_library(CUDARRAY_CBLAS_LIBRARY NAMES openblas cblas)
  mark_as_advanced(CUDARRAY_CBLAS_INCLUDE_DIR CUDARRAY_CBLAS_LIBRARY)
  if(CUDARRAY_CBLAS_INCLUDE_DIR AND CUDARRAY_CBLAS_LIBRARY)
    add_library(cudarray::cblas INTERFACE IMPORTED GLOBAL)
    target_include_directories(cudarray::cblas INTERFACE "${CUDARRAY_CBLAS_INCLUDE_DIR}")
    target_link_libraries(cudarray::cblas INTERFACE "${CUDARRAY_CBLAS_LIBRARY}")
    target_compile_definitions(cudarray::cblas INTERFACE CUDARRAY_HAS_CBLAS)
  endif()
endif()

if(NOT DEFINED CUDARRAY_WITH_ONEDNN OR CUDARRAY_WITH_ONEDNN)
  find_path(CUDARRAY_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h)
  find_library(CUDARRAY_ONEDNN_LIBRARY NAMES dnnl)
  mark_as_advanced(CUDARRAY_ONEDNN_INCLUDE_DIR CUDARRAY_ONEDNN_LIBRARY)
  if(CUDARRAY_ONEDNN_INCLUDE_DIR AND CUDARRAY_ONEDNN_LIBRARY)
    add_library(cudarray::onednn INTERFACE IMPORTED GLOBAL)
    target_include_directories(cudarray::onednn INTERFACE "${CUDARRAY_ONEDNN_INCLUDE_DIR}")
    target_link_libraries(cudarray::onednn INTERFACE "${CUDARRAY_ONEDNN_LIBRARY}" ${CMAKE_DL_LIBS})
    target_compile_definitions(cudarray::onednn INTERFACE CUDARRAY_HAS_ONEDNN)
  endif()
endif()

if(NOT DEFINED CUDARRAY_WITH_HIGHWAY OR CUDARRAY_WITH_HIGHWAY)
  find_path(CUDARRAY_HIGHWAY_INCLUDE_DIR hwy/contrib/sort/vqsort.h)
  find_library(CUDARRAY_HIGHWAY_LIBRARY NAMES hwy)
  find_library(CUDARRAY_HIGHWAY_CONTRIB_LIBRARY NAMES hwy_contrib)
  mark_as_advanced(CUDARRAY_HIGHWAY_INCLUDE_DIR CUDARRAY_HIGHWAY_LIBRARY CUDARRAY_HIGHWAY_CONTRIB_LIBRARY)
  if(CUDARRAY_HIGHWAY_INCLUDE_DIR AND CUDARRAY_HIGHWAY_LIBRARY AND CUDARRAY_HIGHWAY_CONTRIB_LIBRARY)
    add_library(cudarray::highway INTERFACE IMPORTED GLOBAL)
    target_include_directories(cudarray::highway INTERFACE "${CUDARRAY_HIGHWAY_INCLUDE_DIR}")
    target_link_libraries(cudarray::highway INTERFACE "${CUDARRAY_HIGHWAY_CONTRIB_LIBRARY}" "${CUDARRAY_HIGHWAY_LIBRARY}")
    target_compile_definitions(cudarray::highway INTERFACE CUDARRAY_HAS_HIGHWAY)
  endif()
endif()

# zlib, for gzipped files and compressed .npz files.
find_package(ZLIB QUIET)
if(ZLIB_FOUND)
  add_library(cudarray::zlib INTERFACE IMPORTED GLOBAL)
  target_link_libraries(cudarray::zlib INTERFACE "${ZLIB_LIBRARIES}")
  target_include_directories(cudarray::zlib INTERFACE "${ZLIB_INCLUDE_DIRS}")
  target_compile_definitions(cudarray::zlib INTERFACE CUDARRAY_HAS_ZLIB)
endif()

# libpng, for pictures: those that include png.hpp link it.
find_package(PNG QUIET)
if(PNG_FOUND)
  add_library(cudarray::png INTERFACE IMPORTED GLOBAL)
  target_link_libraries(cudarray::png INTERFACE "${PNG_LIBRARIES}")
  target_include_directories(cudarray::png INTERFACE "${PNG_INCLUDE_DIRS}")
endif()

# One program has one default device: linking both targets fails at configure time.
function(cudarray_define_device target device)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${target} INTERFACE cudarray::core $<TARGET_NAME_IF_EXISTS:cudarray::cblas>
                        $<TARGET_NAME_IF_EXISTS:cudarray::onednn> $<TARGET_NAME_IF_EXISTS:cudarray::highway>
                        $<TARGET_NAME_IF_EXISTS:cudarray::zlib>)
  target_compile_definitions(${target} INTERFACE CUDARRAY_DEFAULT_DEVICE=${device})
  set_target_properties(${target} PROPERTIES INTERFACE_CUDARRAY_DEFAULT_DEVICE ${device}
                                             COMPATIBLE_INTERFACE_STRING CUDARRAY_DEFAULT_DEVICE)
endfunction()

cudarray_define_device(cudarray::cudarray cpu)

if(NOT DEFINED CUDARRAY_WITH_CUDA OR CUDARRAY_WITH_CUDA)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    cudarray_define_device(cudarray::cuda cuda)
    # a program whose CUDA_RUNTIME_LIBRARY is Static must not get the shared runtime as well
    set(cudarray_static_runtime $<STREQUAL:$<TARGET_PROPERTY:CUDA_RUNTIME_LIBRARY>,Static>)
    target_link_libraries(cudarray::cuda INTERFACE $<IF:${cudarray_static_runtime},CUDA::cudart_static,CUDA::cudart>
                                                   CUDA::cublas CUDA::cublasLt)
    target_compile_definitions(cudarray::cuda INTERFACE CUDARRAY_HAS_CUDA)
    target_compile_options(cudarray::cuda INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>) # for ca::map
    # NVRTC, for kernels from source: those that include raw_kernel.hpp link it.
    if(TARGET CUDA::nvrtc)
      add_library(cudarray::nvrtc INTERFACE IMPORTED GLOBAL)
      target_link_libraries(cudarray::nvrtc INTERFACE CUDA::nvrtc)
    endif()
    if(NOT DEFINED CUDARRAY_WITH_CUDNN OR CUDARRAY_WITH_CUDNN)
      find_path(CUDARRAY_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
      find_library(CUDARRAY_CUDNN_LIBRARY NAMES cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
      mark_as_advanced(CUDARRAY_CUDNN_INCLUDE_DIR CUDARRAY_CUDNN_LIBRARY)
      if(CUDARRAY_CUDNN_INCLUDE_DIR AND CUDARRAY_CUDNN_LIBRARY)
        add_library(cudarray::cudnn INTERFACE IMPORTED GLOBAL)
        target_include_directories(cudarray::cudnn INTERFACE "${CUDARRAY_CUDNN_INCLUDE_DIR}")
        target_link_libraries(cudarray::cudnn INTERFACE "${CUDARRAY_CUDNN_LIBRARY}")
        target_compile_definitions(cudarray::cudnn INTERFACE CUDARRAY_HAS_CUDNN)
        target_link_libraries(cudarray::cuda INTERFACE cudarray::cudnn)
      endif()
    endif()
  endif()
endif()

# Notes a component of the package, and why it is not there where it is not, for every directory of the project.
function(cudarray_note_component name target option library)
  if(TARGET ${target})
    set(reason)
  elseif(DEFINED ${option} AND NOT ${option})
    set(reason "${option} is off")
  else()
    set(reason "${library} was not found")
  endif()
  set_property(TARGET cudarray::core APPEND PROPERTY CUDARRAY_COMPONENTS ${name})
  set_property(TARGET cudarray::core PROPERTY CUDARRAY_WITHOUT_${name} "${reason}")
endfunction()

cudarray_note_component(cpu cudarray::cudarray "" "")
cudarray_note_component(cuda cudarray::cuda CUDARRAY_WITH_CUDA "the CUDA toolkit")
cudarray_note_component(blas cudarray::cblas CUDARRAY_WITH_BLAS "a CBLAS library")
cudarray_note_component(onednn cudarray::onednn CUDARRAY_WITH_ONEDNN "oneDNN")
cudarray_note_component(highway cudarray::highway CUDARRAY_WITH_HIGHWAY "Highway")
cudarray_note_component(cudnn cudarray::cudnn CUDARRAY_WITH_CUDNN "cuDNN, with the CUDA toolkit,")
cudarray_note_component(nvrtc cudarray::nvrtc CUDARRAY_WITH_CUDA "NVRTC, with the CUDA toolkit,")
cudarray_note_component(zlib cudarray::zlib "" "zlib")
cudarray_note_component(png cudarray::png "" "libpng")
