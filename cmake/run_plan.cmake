# Runs a plan of examples/plans with WEFT, in a copy of that directory below WORK: what the plan
# writes to ../../build stays there. COMMAND, if there is one, is run in the copy first.
file(REMOVE_RECURSE "${WORK}")
file(COPY "${PLANS}" DESTINATION "${WORK}/examples")
file(MAKE_DIRECTORY "${WORK}/build")
if(COMMAND)
  execute_process(COMMAND ${COMMAND} WORKING_DIRECTORY "${WORK}" COMMAND_ERROR_IS_FATAL ANY)
endif()
execute_process(COMMAND "${WEFT}" run "examples/plans/${PLAN}.toml" WORKING_DIRECTORY "${WORK}"
                        COMMAND_ERROR_IS_FATAL ANY)
