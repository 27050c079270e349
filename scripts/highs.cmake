# Settings of cmake for HiGHS. This file is used by cargo (.cargo/config.toml) and by scripts/wheel.

# This is a unity build with 24 sources at a time, so that the headers are read only once. HiGHS itself uses eight on
# macOS, which takes about 15 % longer. With 48, there are conflicts between the sources of version 1.15.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)

if(NOT CMAKE_HOST_WIN32)
  # Wheels and archives are compiled with -O2 (scripts/wheel). With -O1, HiGHS compiles in two thirds of the time and
  # is 3 to 6 % slower on its own test instances (six instances, twelve runs each) with the same number of iterations.
  # The default of cmake, -O3, is not faster than -O2.
  set(level "$ENV{HIGHS_LEVEL}")
  if(NOT level)
    set(level "-O1")
  endif()
  set(CMAKE_C_FLAGS_RELEASE "${level} -DNDEBUG" CACHE STRING "")
  set(CMAKE_CXX_FLAGS_RELEASE "${level} -DNDEBUG" CACHE STRING "")
  # The compilers are set in the environment for this target (scripts/wheel), or they are the compilers that are
  # checked by scripts/setup. If there is a toolchain file, it must set them.
  string(REPLACE "-" "_" target "$ENV{TARGET}")
  if(DEFINED ENV{CC_${target}})
    set(CMAKE_C_COMPILER "$ENV{CC_${target}}")
  elseif(NOT DEFINED ENV{CC})
    set(CMAKE_C_COMPILER cc)
  endif()
  if(DEFINED ENV{CXX_${target}})
    set(CMAKE_CXX_COMPILER "$ENV{CXX_${target}}")
  elseif(NOT DEFINED ENV{CXX})
    set(CMAKE_CXX_COMPILER c++)
  endif()
endif()
