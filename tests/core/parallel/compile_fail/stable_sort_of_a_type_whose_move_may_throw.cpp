// expect: moving one must not throw; declare the move operations noexcept
#include <vector>

#include <weft/core/parallel/stable_sort.hpp>

#ifdef CORRECTED
constexpr bool move_is_safe = true;
#else
constexpr bool move_is_safe = false;
#endif

struct item {
  item() = default;
  item(item&& other) noexcept(move_is_safe) : key(other.key) {}
  item& operator=(item&& other) noexcept(move_is_safe) {
    key = other.key;
    return *this;
  }
  int key = 0;
};

void sort(std::vector<item>& items) { weft::parallel_stable_sort(items, {}, &item::key); }
