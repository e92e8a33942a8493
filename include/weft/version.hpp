#pragma once

// CMake reads the version of the project from this file; keep the four in step.
#define WEFT_VERSION "0.1.0"
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
