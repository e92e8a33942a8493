#pragma once

// Every layer of Weft that needs no third-party header.

#include <weft/core/join.hpp>
#include <weft/core/limiter.hpp>
#include <weft/core/pool.hpp>
#include <weft/core/task_group.hpp>
#include <weft/core/when.hpp>
#include <weft/version.hpp>
