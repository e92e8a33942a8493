# Runs PROGRAM with ARGS and compares what it prints with the file EXPECTED.
execute_process(COMMAND "${PROGRAM}" ${ARGS} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}; it printed:\n${printed}")
endif()
file(READ "${EXPECTED}" expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed:\n${printed}\nbut ${EXPECTED} says:\n${expected}")
endif()
