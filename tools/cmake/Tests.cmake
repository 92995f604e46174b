# SPDX-License-Identifier: Apache-2.0
# vinci_test(NAME SOURCES ... LIBS ... [LABEL unit])      one GoogleTest executable, one ctest entry per test
# vinci_fuzz(NAME SOURCE file LIBS ... [SEEDS folder])    libFuzzer harness (preset fuzz); elsewhere a replay of its
#                                                         corpus, and of a folder of files that serve as seeds too
# vinci_compiles(NAME TARGET SOURCE [DEFINES ...] [REFUSED regex])   the compiler takes a source with the include folders
#                                                         of a target, or refuses it with a message that matches
find_package(GTest REQUIRED)
include(GoogleTest)

if(VINCI_FUZZ)
  add_custom_target(fuzzers)
endif()

function(vinci_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(VINCI_COVERAGE OR VINCI_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 10")
  endif()
  add_executable(vinci_test_${name} ${arg_SOURCES})
  target_link_libraries(vinci_test_${name} PRIVATE ${arg_LIBS} vinci_tests GTest::gmock GTest::gtest_main vinci_warnings)
  gtest_discover_tests(vinci_test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
endfunction()

function(vinci_compiles name target source)
  cmake_parse_arguments(arg "" "REFUSED" "DEFINES" ${ARGN})
  list(TRANSFORM arg_DEFINES PREPEND -D)
  set(roots "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  add_test(NAME compiles.${name} COMMAND_EXPAND_LISTS
    COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only "-I$<JOIN:${roots},;-I>" ${arg_DEFINES}
            "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
  set_tests_properties(compiles.${name} PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT LC_ALL=C)
  if(arg_REFUSED)
    set_tests_properties(compiles.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_REFUSED}")
  endif()
endfunction()

function(vinci_fuzz name)
  cmake_parse_arguments(arg "" "SOURCE;SEEDS" "LIBS" ${ARGN})
  set(corpus "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
  add_executable(vinci_fuzz_${name} ${arg_SOURCE})
  target_link_libraries(vinci_fuzz_${name} PRIVATE ${arg_LIBS} vinci_tests vinci_warnings)
  if(VINCI_FUZZ)
    target_link_options(vinci_fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers vinci_fuzz_${name})
    # Time and seed come from the environment, so that one build serves a minute in a test run, which tries the same
    # inputs each time, and a night elsewhere.
    add_test(NAME fuzz.${name} COMMAND sh -c "exec \"$0\" -max_total_time=\"$\{VINCI_FUZZ_SECONDS:-60}\" -seed=\"$\{VINCI_FUZZ_SEED:-0}\" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \"$@\""
      "$<TARGET_FILE:vinci_fuzz_${name}>" "${CMAKE_CURRENT_BINARY_DIR}/corpus_${name}" "${corpus}" ${arg_SEEDS})
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/corpus_${name}")
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 100000)
  else()
    target_sources(vinci_fuzz_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp")
    add_test(NAME fuzz_corpus.${name} COMMAND vinci_fuzz_${name} "${corpus}" ${arg_SEEDS})
    set_tests_properties(fuzz_corpus.${name} PROPERTIES LABELS unit TIMEOUT 60)
  endif()
endfunction()
