# How cmake compiles HiGHS; cargo names this file to it (.cargo/config.toml).

# Eight sources at a time ("unity build"), as HiGHS itself does on macOS: headers are read once.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

if(NOT CMAKE_HOST_WIN32)
  # -O3, cmake's default, takes longer to compile and solves no faster.
  set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
  # The compilers that scripts/setup has looked for; with a toolchain file nobody else names them.
  if(NOT DEFINED ENV{CC})
    set(CMAKE_C_COMPILER cc)
  endif()
  if(NOT DEFINED ENV{CXX})
    set(CMAKE_CXX_COMPILER c++)
  endif()
endif()
