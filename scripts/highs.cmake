# How cmake compiles HiGHS; cargo (.cargo/config.toml) and scripts/wheel name this file to it.

# 24 sources at a time ("unity build"), which HiGHS itself does on macOS with eight: headers are read once. It takes a
# quarter less time than with eight; with 48, sources of version 1.15 clash.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)

if(NOT CMAKE_HOST_WIN32)
  # -O3, cmake's default, takes longer to compile and solves no faster.
  set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
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
