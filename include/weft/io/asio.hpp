#pragma once

// What joins Weft and Boost.Asio. Apart from weft/weft.hpp, because it includes Asio's headers.

#include <weft/io/asio_executor.hpp>
#include <weft/io/hybrid.hpp>
#include <weft/io/use_task.hpp>
