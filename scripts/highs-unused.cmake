# What synth never calls of HiGHS: it solves linear programs by the simplex method alone. Branch and bound, interior
# points, first-order methods and quadratic programs are linked and do not run: compiled without optimization,
# HiGHS is there sooner. cmake reads this after HiGHS has named its project (see highs.cmake).

if(CMAKE_VERSION VERSION_LESS 3.19 OR CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
  return()
endif()

# Sources of the target `highs` in these directories go into a library of objects of their own.
function(leave_unused_parts_as_they_are)
  get_target_property(sources highs SOURCES)
  get_target_property(directory highs SOURCE_DIR)
  set(unused)
  set(used)
  foreach(source IN LISTS sources)
    if(source MATCHES "(^|/)(mip|ipm|pdlp|qpsolver)/.*\\.(c|cc|cpp)$")
      get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${directory}")
      list(APPEND unused "${source}")
    else()
      list(APPEND used "${source}")
    endif()
  endforeach()
  add_library(highs_unused OBJECT ${unused})
  foreach(property IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FEATURES
                            POSITION_INDEPENDENT_CODE UNITY_BUILD UNITY_BUILD_BATCH_SIZE)
    get_target_property(value highs ${property})
    if(NOT value STREQUAL "value-NOTFOUND")
      set_target_properties(highs_unused PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  target_compile_options(highs_unused PRIVATE -O0)
  list(APPEND used $<TARGET_OBJECTS:highs_unused>)
  set_target_properties(highs PROPERTIES SOURCES "${used}")
endfunction()

cmake_language(DEFER CALL leave_unused_parts_as_they_are)
