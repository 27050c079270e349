# How cmake compiles HiGHS; cargo (.cargo/config.toml) and scripts/wheel name this file to it.

# 24 sources at a time ("unity build"), which HiGHS itself does on macOS with eight: headers are read once. It takes
# some 15 % less time than with eight; with 48, sources of version 1.15 clash.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)

if(NOT CMAKE_HOST_WIN32)
  # Wheels and archives are compiled with -O2 (scripts/wheel). With -O1 HiGHS compiles in two thirds of the time, and solves
  # its own test instances (six, twelve runs each) 3 to 6 % slower, in as many iterations. -O3, cmake's default, solves no
  # faster than -O2.
  set(level "$ENV{HIGHS_LEVEL}")
  if(NOT level)
    set(level "-O1")
  endif()
  set(CMAKE_C_FLAGS_RELEASE "${level} -DNDEBUG" CACHE STRING "")
  set(CMAKE_CXX_FLAGS_RELEASE "${level} -DNDEBUG" CACHE STRING "")
  # The compilers that the environment names for this target, as scripts/wheel has it; else those that scripts/setup has
  # looked for. With a toolchain file nobody else names them.
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
