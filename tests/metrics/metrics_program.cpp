// Prints one scrape, for promtool to check.

#include <cstdio>

#include <metrics/everything.hpp>

int main() { std::fputs(weft::test::scrape_everything().c_str(), stdout); }
