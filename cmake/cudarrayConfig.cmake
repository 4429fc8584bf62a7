# find_package(cudarray): the headers lie beside this package's cmake folder.
get_filename_component(cudarray_include_dir "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
include("${CMAKE_CURRENT_LIST_DIR}/cudarrayTargets.cmake")
