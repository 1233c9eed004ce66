# leat_module(<name> LAYER <layer> [SRCS …] [TESTS …] [DEPS leat::…] [USES third-party …]
#             [TEST_USES …])
#
# One folder = one module = one target. Three teeth keep modules layered (src/README.md):
#   1. the include root of a module is its layer's folder: a lower layer cannot name a higher one;
#   2. <module>_linktest links the whole archive with only its DEPS, so that an undeclared one does
#      not resolve;
#   3. tools/check_layers.py compares every #include with the DEPS recorded here.
# Sources are listed by hand: what is not listed is not built.
function(leat_module name)
  cmake_parse_arguments(M "" "LAYER" "SRCS;TESTS;DEPS;USES;TEST_USES" ${ARGN})
  set(target leat_${name})
  if(M_SRCS)
    add_library(${target} STATIC ${M_SRCS})
    set(scope PUBLIC)
    set(empty ${CMAKE_BINARY_DIR}/empty_main.cc)
    if(NOT EXISTS ${empty})
      file(WRITE ${empty} "int main() {}\n")
    endif()
    add_executable(${target}_linktest ${empty})
    target_link_libraries(${target}_linktest
      PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${target}>" ${M_DEPS} ${M_USES})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(leat::${name} ALIAS ${target})
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src/${M_LAYER})
  target_link_libraries(${target} ${scope} ${M_DEPS} ${M_USES})
  if(M_TESTS)
    add_executable(${target}_test ${M_TESTS})
    target_link_libraries(${target}_test PRIVATE ${target} ${M_TEST_USES} GTest::gtest_main)
    add_test(NAME unit.${name} COMMAND ${target}_test)
    set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 600)
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY LEAT_DEPS "${M_LAYER}/${name}: ${M_DEPS}\n")
endfunction()

# Writes what leat_module() was told, one line a module, for tools/check_layers.py.
function(leat_write_dependency_record)
  get_property(record GLOBAL PROPERTY LEAT_DEPS)
  file(WRITE ${CMAKE_BINARY_DIR}/module_deps.txt "${record}")
endfunction()
