# Flags every target gets: the language, the warnings, and what the presets switch on.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Line tables are what backtraces and sanitizers need; full debug information doubles build times.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

set(LEAT_SANITIZE "" CACHE STRING "sanitizers, as -fsanitize= takes them")
set(LEAT_LINKER "" CACHE STRING "linker for -fuse-ld=, empty for the compiler's own")
option(LEAT_FUZZ "build the libFuzzer targets" OFF)
option(LEAT_COVERAGE "instrument for source-based coverage" OFF)
option(LEAT_LTO "link-time optimisation" OFF)

add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wnull-dereference -Wold-style-cast -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wthread-safety -Wunused-result)
else()
  # g++ 12 reports null dereferences and uninitialised fields inside coroutine frames and
  # std::expected that are not there (docs/adr/0001-compilers-and-coroutine-rules.md); clang and
  # ASan watch these.
  add_compile_options(-Wno-null-dereference -Wno-maybe-uninitialized -Wno-free-nonheap-object
    -Wno-mismatched-new-delete)
endif()

if(LEAT_LINKER)
  add_link_options(-fuse-ld=${LEAT_LINKER})
endif()
if(LEAT_SANITIZE)
  # Optimising what a sanitizer instruments takes three times as long to compile, coroutines above
  # all; only fuzzers, which run for as long as they are let, gain by it.
  if(LEAT_FUZZ)
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  else()
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1")
  endif()
  add_compile_options(-fsanitize=${LEAT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LEAT_SANITIZE})
endif()
if(LEAT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(LEAT_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()
if(LEAT_LTO)
  add_compile_options(-flto=thin)
  add_link_options(-flto=thin)
endif()
